"""How the tables of a store are made, and how those of older versions become the present ones."""

import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import sqlalchemy as sa

from robustssl.errors import InputError
from robustssl.records.catalog import method_of
from robustssl.records.places import NoStoreError
from robustssl.records.schema import (
    SCHEMA,
    counted,
    insert,
    meta,
    method_row,
    methods,
    records,
    tables,
    writing,
)
from robustssl.spec import spell

_CREATION = 7 * 11 * 13 * 17  # the number of a server's lock under which tables are made


def _add_logs(connection: sa.Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE records ADD COLUMN log VARCHAR")


def _add_methods(connection: sa.Connection) -> None:
    """Records say what their method is, as far as the catalog knows, and have a digest."""
    methods.create(connection)
    for column in ("method VARCHAR", "test_rows BIGINT", "sha256 VARCHAR(32)"):
        connection.exec_driver_sql(f"ALTER TABLE records ADD COLUMN {column}")
    params = sa.cast(records.c.params, sa.String)
    found = connection.execute(sa.select(records.c.algorithm, params).distinct()).all()
    for name, text in found:
        method = method_of(spell(name, dict(json.loads(text))))
        row = method_row(method)
        new = insert(connection.dialect.name)(methods).values(row).on_conflict_do_nothing()
        connection.execute(new)
        alike = (records.c.algorithm == name) & (params == text)
        connection.execute(records.update().where(alike).values(method=row["id"]))


def _add_index(connection: sa.Connection) -> None:
    if connection.dialect.name == "sqlite":
        counted.create(connection)


def _add_bits(connection: sa.Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE records ADD COLUMN bits VARCHAR")


# From a schema to the next.
MIGRATIONS: Mapping[int, Callable[[sa.Connection], None]] = {
    1: _add_logs,
    2: _add_methods,
    3: _add_index,
    4: _add_bits,
}


def prepare(engine: sa.Engine, place: str, create: bool) -> None:
    """Make the tables where there are none (if `create`), and bring older ones up to date."""
    if create:
        _create(engine)
    _migrate(engine, place, _schema_of(engine, place))
    if create and engine.dialect.name == "sqlite":
        _log_ahead(engine)


def _create(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":  # two processes may do this at once
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATION)))
        if not sa.inspect(connection).get_table_names():
            tables.create_all(connection)
            connection.execute(meta.insert().values(name="schema", value=str(SCHEMA)))


def _log_ahead(engine: sa.Engine) -> None:
    """A file turns to write-ahead logging for good."""
    with engine.connect() as connection:
        for _ in range(100):  # this pragma never waits, and another process may be at it
            with suppress(sa.exc.OperationalError):
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                return
            time.sleep(0.1)


def _schema_of(engine: sa.Engine, place: str) -> int:
    with engine.connect() as connection:
        names = set(sa.inspect(connection).get_table_names())
        if not names and engine.dialect.name != "sqlite":
            raise NoStoreError(f"there is no store at {place}; `robustssl run` makes one")
        if not {"meta", "records"} <= names:
            raise InputError(f"{place} is a database, but not a store of robustssl")
        query = sa.select(meta.c.value).where(meta.c.name == "schema")
        value = connection.execute(query).scalar() or ""
    if not re.fullmatch("[1-9][0-9]{0,5}", value):
        raise InputError(f"{place} is not a store of robustssl: it names no schema")
    if int(value) > SCHEMA:
        raise InputError(
            f"{place} was written by a newer version of robustssl (schema {value}; this one reads "
            f"up to {SCHEMA}); upgrade robustssl to read it"
        )
    return int(value)


def _migrate(engine: sa.Engine, place: str, schema: int) -> None:
    """Bring a store of an older version to the present schema, all or nothing."""
    if schema == SCHEMA:
        return
    at = meta.c.name == "schema"
    found = sa.select(meta.c.value).where(at).with_for_update()  # another process may be at it
    try:
        with writing(engine) as connection:
            for number in range(int(connection.execute(found).scalar_one()), SCHEMA):
                MIGRATIONS[number](connection)
            connection.execute(meta.update().where(at).values(value=str(SCHEMA)))
    except sa.exc.DatabaseError as error:
        raise InputError(
            f"{place} is of an older version of robustssl (schema {schema}) and cannot be brought "
            f"to the present one: {error.orig}"
        ) from error
