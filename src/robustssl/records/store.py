"""Where records are kept: what is done, what failed, what is stale.

A store is a file (SQLite) or, for teams, a database by its URL (PostgreSQL). A cell has at most one
success; errors are attempts beside it. The records of a group are committed together, the moment
they exist: a process killed anywhere leaves a whole store.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np
import pandas as pd
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from robustssl import registry
from robustssl.cell import Cell
from robustssl.errors import InputError
from robustssl.records.record import SCORES, UNREADABLE, Record
from robustssl.spec import parse, spell

SCHEMA = 2
_MIGRATIONS = {1: "ALTER TABLE records ADD COLUMN log VARCHAR"}  # from a schema to the next
_COLUMNS = SCORES[:4]  # scores that came later are among the others, so that old stores last

_tables = sa.MetaData()

_meta = sa.Table(
    "meta",
    _tables,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
)

# What many records share (versions, machine, commit), kept once.
_provenance = sa.Table(
    "provenance",
    _tables,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("document", sa.JSON, nullable=False),
)

_records = sa.Table(
    "records",
    _tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String(32), nullable=False, index=True),
    sa.Column("algorithm", sa.String, nullable=False),
    sa.Column("params", sa.JSON, nullable=False),
    sa.Column("environment", sa.String, nullable=False),
    sa.Column("dataset", sa.String, nullable=False),
    sa.Column("labels", sa.BigInteger, nullable=False),
    sa.Column("t", sa.Double, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("versions", sa.JSON, nullable=False),
    *(sa.Column(name, sa.Double) for name in _COLUMNS),
    sa.Column("other_scores", sa.JSON, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("error", sa.String),
    sa.Column("warnings", sa.JSON, nullable=False),
    sa.Column("digest", sa.String),
    sa.Column("predictions", sa.JSON(none_as_null=True)),
    sa.Column("dataset_sha256", sa.String),
    sa.Column("split_digest", sa.String),
    sa.Column("provenance", sa.ForeignKey("provenance.id"), nullable=False),
    sa.Column("log", sa.String),
)
_success = _records.c.error.is_(None)
sa.Index(
    "one_success",
    _records.c.key,
    unique=True,
    sqlite_where=_success,
    postgresql_where=_success,
)

_CELL = ("algorithm", "environment", "dataset", "labels", "t", "seed")
_VERSIONED: tuple[registry.Kind, ...] = ("algorithm", "environment", "dataset")
_NUMBERS = {"labels": int, "seed": int, **dict.fromkeys(("t", "seconds", *SCORES), float)}
_OWN_PROVENANCE = ("dataset_sha256", "split_digest")


_INSERT: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_TRIES = 5  # to write, where the connection to a server is lost
_CREATION = 7 * 11 * 13 * 17  # the number of a server's lock under which tables are made


# The specs of algorithm, environment and dataset, and their versions.
Versioned = tuple[tuple[str, str, str], tuple[int, ...]]


class Store:
    """Records in a file or, by its URL, in a database; a context manager. `create=False` refuses
    one that is not there. `place` is what to call it: a password in a URL is not shown.
    """

    def __init__(self, place: str | Path, create: bool = True) -> None:
        url = url_of(place)
        self.place = shown(place)
        self._engine = _file(Path(place), create) if url is None else _server(url)
        self._dialect = self._engine.dialect.name
        try:
            with self._refusals():
                if create:
                    self._create()
                self._migrate(self._schema())
                if create and self._dialect == "sqlite":
                    self._log_ahead()
        except BaseException:
            self.close()
            raise

    def _create(self) -> None:
        """Make the tables where there are none."""
        with self._writing() as connection:
            if self._dialect == "postgresql":  # two may be at it
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATION)))
            if not sa.inspect(connection).get_table_names():
                _tables.create_all(connection)
                connection.execute(_meta.insert().values(name="schema", value=str(SCHEMA)))

    def _log_ahead(self) -> None:
        """A file turns to write-ahead logging for good."""
        with self._engine.connect() as connection:
            for _ in range(100):  # this pragma never waits, and another process may be at it
                with suppress(sa.exc.OperationalError):
                    connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                    return
                time.sleep(0.1)

    def _schema(self) -> int:
        with self._engine.connect() as connection:
            tables = set(sa.inspect(connection).get_table_names())
            if not tables and self._dialect != "sqlite":
                raise NoStoreError(f"there is no store at {self.place}; `robustssl run` makes one")
            if not {"meta", "records"} <= tables:
                raise InputError(f"{self.place} is a database, but not a store of robustssl")
            query = sa.select(_meta.c.value).where(_meta.c.name == "schema")
            value = connection.execute(query).scalar() or ""
            if not re.fullmatch("[1-9][0-9]{0,5}", value):
                raise InputError(f"{self.place} is not a store of robustssl: it names no schema")
        if int(value) > SCHEMA:
            raise InputError(
                f"{self.place} was written by a newer version of robustssl (schema {value}; this "
                f"one reads up to {SCHEMA}); upgrade robustssl to read it"
            )
        return int(value)

    def _migrate(self, schema: int) -> None:
        """Bring a store of an older version to the present schema, all or nothing."""
        if schema == SCHEMA:
            return
        at = _meta.c.name == "schema"
        found = sa.select(_meta.c.value).where(at).with_for_update()  # another may be at it
        try:
            with self._writing() as connection:
                for number in range(int(connection.execute(found).scalar_one()), SCHEMA):
                    connection.exec_driver_sql(_MIGRATIONS[number])
                connection.execute(_meta.update().where(at).values(value=str(SCHEMA)))
        except sa.exc.DatabaseError as error:
            raise InputError(
                f"{self.place} is of an older version of robustssl (schema {schema}) and cannot be "
                f"brought to the present one: {error.orig}"
            ) from error

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """A transaction that waits for the write lock at its start, where waiting is possible."""
        with self._engine.begin() as connection:
            if self._dialect == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """What the database refuses, in a sentence."""
        try:
            yield
        except InputError:
            raise
        except UNREADABLE as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(
                f"{self.place} holds what robustssl did not write ({reason[:200]}); `robustssl "
                "store check` tells where"
            ) from error
        except sa.exc.DatabaseError as error:
            reason = str(error.orig)
            if "not a database" in reason:
                raise InputError(f"{self.place} is not a store: {reason}") from error
            kept = ". What was committed before is kept" if "full" in reason else ""
            raise InputError(f"the store {self.place} cannot be used: {reason}{kept}") from error

    def add(self, record: Record) -> bool:
        """Commit a record; False if the cell has a success already (the first one stays)."""
        return self.add_all([record]) == 1

    def add_all(self, records: Sequence[Record]) -> int:
        """Commit records, all or none; how many are new. A lost connection is made again."""
        left = _TRIES
        with self._refusals():
            while True:
                try:
                    with self._writing() as connection:
                        return sum(self._insert(connection, record) for record in records)
                except sa.exc.DBAPIError as error:
                    left -= 1
                    if not error.connection_invalidated or not left:
                        raise
                    time.sleep(1)

    def _insert(self, connection: sa.Connection, record: Record) -> int:
        own = {name: record.provenance.get(name) for name in _OWN_PROVENANCE}
        shared = {k: v for k, v in record.provenance.items() if k not in own}
        row = {
            **{name: getattr(record.cell, name) for name in _CELL},
            **{name: record.scores.get(name) for name in _COLUMNS},
            **own,
            "key": record.key,
            "params": record.cell.params,
            "versions": record.versions,
            "other_scores": {k: v for k, v in record.scores.items() if k not in _COLUMNS},
            "seconds": record.seconds,
            "error": record.error,
            "warnings": record.warnings,
            "digest": record.digest,
            "predictions": record.predictions,
            "log": record.log,
        }
        text, insert = json.dumps(shared, sort_keys=True), _INSERT[self._dialect]
        row["provenance"] = hashlib.sha256(text.encode()).hexdigest()[:16]
        document = insert(_provenance).values(id=row["provenance"], document=shared)
        connection.execute(document.on_conflict_do_nothing())
        added = insert(_records).values(row).on_conflict_do_nothing().returning(_records.c.id)
        return len(connection.execute(added).all())

    def done(self) -> set[str]:
        """Keys of the cells that have a success."""
        return self._keys(_success)

    def failed(self) -> set[str]:
        """Keys of the cells that have errors only."""
        return self._keys(~_success) - self.done()

    def _keys(self, condition: sa.ColumnElement[bool]) -> set[str]:
        with self._refusals(), self._engine.connect() as connection:
            return set(connection.execute(sa.select(_records.c.key).where(condition)).scalars())

    def __len__(self) -> int:
        with self._refusals(), self._engine.connect() as connection:
            return connection.execute(sa.select(sa.func.count(_records.c.id))).scalar_one()

    def digests(self, dataset: str) -> set[str]:
        """The sha256 of the data that the records of a dataset were made with."""
        found = sa.select(_records.c.dataset_sha256).where(_records.c.dataset == dataset, _success)
        with self._engine.connect() as connection:
            return {sha for (sha,) in connection.execute(found.distinct()) if sha}

    def records(self) -> Iterator[Record]:
        """Every record, errors too, in the order in which they came."""
        return map(_record, self._rows())

    def _rows(self, which: sa.ColumnElement[bool] | None = None) -> Iterator[Any]:
        query = (
            sa.select(_records, _provenance.c.document)
            .join(_provenance, _provenance.c.id == _records.c.provenance)
            .order_by(_records.c.id)
        )
        query = query if which is None else query.where(which)
        with self._refusals(), self._engine.connect() as connection:
            yield from connection.execute(query).mappings()

    def problems(self) -> Iterator[str]:
        """What is wrong with the file or with a record, in a sentence each."""
        if self._dialect == "sqlite":
            with self._refusals(), self._engine.connect() as connection:
                found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
            yield from (f"the file: {reason}" for reason in found if reason != "ok")
        with self._refusals(), self._engine.connect() as connection:
            ids = (
                connection.execute(sa.select(_records.c.id).order_by(_records.c.id)).scalars().all()
            )
        for number in ids:
            try:
                (row,) = self._rows(_records.c.id == number)
                record = Record.from_json(_record(row).to_json())
                if row["key"] != record.key:
                    raise InputError(f"its key {row['key']} is not that of its cell, {record.key}")
            except (InputError, *UNREADABLE) as error:
                yield f"record {number}: {error}"

    def note(self, name: str, value: Any) -> None:
        """Keep something that belongs to the store, not to a record, under its name."""
        row = {"name": name, "value": json.dumps(value)}
        with self._refusals(), self._writing() as connection:
            kept = _INSERT[self._dialect](_meta).values(row)
            connection.execute(kept.on_conflict_do_update(index_elements=["name"], set_=row))

    def notes(self, prefix: str) -> list[Any]:
        """What is kept under names that begin so."""
        query = sa.select(_meta.c.value).where(_meta.c.name.startswith(prefix, autoescape=True))
        with self._refusals(), self._engine.connect() as connection:
            found = connection.execute(query.order_by(_meta.c.name)).scalars()
            return [json.loads(value) for value in found]

    def totals(
        self, ts: Sequence[float] | None = None, seeds: Sequence[int] | None = None
    ) -> pd.DataFrame:
        """Successes by the curve they are of, counted where they lie: how many `cells` (at those t
        and seeds), their `seconds`, what `each` of all took, whether they are `stale`.
        """
        names = ("algorithm", "params", "environment", "dataset", "labels", "versions")
        of, seconds = list(map(_as_text, names)), _records.c.seconds
        asked: Any = sa.true()
        if ts is not None and seeds is not None:
            asked = _records.c.t.in_(ts) & _records.c.seed.in_(seeds)
        counts = [sa.func.sum(sa.case((asked, what), else_=0)) for what in (1, seconds)]
        query = sa.select(*of, *counts, sa.func.avg(seconds)).where(_success).group_by(*of)
        with self._refusals(), self._engine.connect() as connection:
            rows = connection.execute(query).all()
            columns = [*names, "cells", "seconds", "each"]
            frame = pd.DataFrame(rows, columns=columns).astype({"cells": int})
            return _with_names(frame)

    def _there(self, connection: sa.Connection) -> list[Versioned]:
        """What there are records of, in which versions."""
        of = sa.select(*map(_as_text, (*_VERSIONED, "versions")))
        rows = connection.execute(of.distinct())
        return [((a, e, d), tuple(json.loads(text))) for a, e, d, text in rows]

    def frame(self, failed_only: bool = False) -> pd.DataFrame:
        """Every record, or those of cells that have errors only, as a row of a tidy frame;
        `algorithm` is spelt with its params.

        `stale` marks records of another version of algorithm, environment or dataset than the
        present one.
        """
        scores = (*_COLUMNS, "other_scores")
        told = ("seconds", "error", "warnings", "log")
        columns = ("key", *_CELL, *scores, "params", "versions", *told)
        query = sa.select(*map(_as_text, columns)).order_by(_records.c.id)
        if failed_only:
            done = sa.select(_records.c.key).where(_success)
            query = query.where(~_success, _records.c.key.not_in(done))
        with self._refusals(), self._engine.connect() as connection:
            rows = connection.execute(query).all()
            frame = pd.DataFrame(rows, columns=list(columns))
            there = self._there(connection) if failed_only and rows else []
            frame = _with_names(frame, there)
            frame["warnings"] = _decoded(frame.warnings)
            others = _decoded(frame.other_scores)
            for name in SCORES[len(_COLUMNS) :]:
                frame[name] = [scores.get(name, np.nan) for scores in others]
            return frame.drop(columns="other_scores").astype(_NUMBERS)


def _as_text(name: str) -> sa.ColumnElement[Any]:
    """A column, JSON as the text it is kept as: many records hold the same, and PostgreSQL cannot
    tell what is equal.
    """
    column = _records.c[name]
    return sa.cast(column, sa.String).label(name) if isinstance(column.type, sa.JSON) else column


def _decoded(texts: Iterable[str]) -> list[Any]:
    texts = list(texts)
    known = {text: json.loads(text) for text in set(texts)}
    return [known[text] for text in texts]


def _with_names(frame: pd.DataFrame, there: Sequence[Versioned] = ()) -> pd.DataFrame:
    """With `stale` instead of versions, and `algorithm` spelt with its params. `there` is what the
    store holds beside these rows.
    """
    named = zip(frame.algorithm, frame.environment, frame.dataset, strict=True)
    versions = map(tuple, _decoded(frame.versions))
    stale = np.array(are_stale(list(zip(named, versions, strict=True)), there), bool)
    pairs = list(zip(frame.algorithm, frame.params, strict=True))
    spelt = {(name, params): spell(name, dict(json.loads(params))) for name, params in set(pairs)}
    methods = [spelt[pair] for pair in pairs]
    return frame.assign(stale=stale, algorithm=methods).drop(columns=["params", "versions"])


def failures(frame: pd.DataFrame) -> pd.DataFrame:
    """Of a store's frame, the last error of each present cell that has no success."""
    bad = frame[frame.error.notna() & ~frame.stale & ~frame.key.isin(frame[frame.error.isna()].key)]
    return bad.drop_duplicates("key", keep="last")


def are_stale(records: Sequence[Versioned], there: Sequence[Versioned] = ()) -> list[bool]:
    """Which records have another version of what their specs name than the present one.

    The present version of what is not here is the newest of these and those that are `there`.
    """
    known = {
        record: [
            ((kind, parse(spec)[0]), number)
            for kind, spec, number in zip(_VERSIONED, *record, strict=True)
        ]
        for record in {*there, *records}
    }
    present: dict[Any, int] = {}
    for pairs in known.values():
        for thing, number in pairs:
            present[thing] = max(number, present.get(thing, number))
    for thing in present:
        if registry.is_here(*thing):
            present[thing] = registry.version(*thing)
    stale = {
        record: any(present[thing] != number for thing, number in pairs)
        for record, pairs in known.items()
    }
    return [stale[record] for record in records]


def url_of(place: str | Path) -> sa.URL | None:
    """The URL of a database, None for a file."""
    if not re.match(r"[\w+]{2,}:/", str(place)):
        return None
    write = "write postgresql+psycopg://USER@HOST:PORT/DATABASE"
    try:
        url = sa.make_url(str(place))
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(f"cannot read the URL of the store; {write}") from None
    if "@" in (url.host or "") or "@" in (url.database or ""):
        raise InputError(f"cannot read the URL of the store; {write}, a @ in a password as %40")
    if url.get_backend_name() != "postgresql":
        raise InputError(
            f"a store is a file (SQLite) or postgresql+psycopg://USER@HOST/DATABASE, not "
            f"{url.get_backend_name()}://"
        )
    return url


def shown(place: str | Path) -> str:
    """What to call a store: a password in its URL is not shown."""
    url = url_of(place)
    return str(place) if url is None else url.set(query={}).render_as_string(hide_password=True)


def exists(place: str | Path) -> bool:
    """Whether there is a store, in a database that can be reached."""
    if url_of(place) is None:
        return Path(place).exists()
    try:
        Store(place, create=False).close()
    except NoStoreError:
        return False
    return True


class NoStoreError(InputError):
    """There is nothing where a store should be."""


def _server(url: sa.URL) -> sa.Engine:
    try:
        return sa.create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise InputError(
            f"a store in PostgreSQL needs {error.name}: pip install 'robustssl[postgres]', and a "
            "URL that begins with postgresql+psycopg://"
        ) from error


def _file(path: Path, create: bool) -> sa.Engine:
    if not create and not path.exists():
        raise NoStoreError(f"there is no store at {path}; `robustssl run` makes one")
    if not path.absolute().parent.is_dir():
        raise InputError(f"the folder of the store {path} does not exist")
    engine = sa.create_engine(_url(path), connect_args={"timeout": 60})
    sa.event.listen(engine, "connect", _set_up_connection)
    return engine


def _url(path: Path) -> sa.URL:
    """A file that cannot be written to, and that no writer has open, is read without locks."""
    place = str(path.absolute())
    if path.exists() and not os.access(path, os.W_OK) and not Path(f"{place}-wal").exists():
        query = {"uri": "true", "immutable": "1"}
        return sa.URL.create("sqlite", database=f"file:{quote(place)}", query=query)
    return sa.URL.create("sqlite", database=place)


def _record(row: Any) -> Record:
    scores = {name: row[name] for name in _COLUMNS if row[name] is not None}
    own = {name: row[name] for name in _OWN_PROVENANCE if row[name] is not None}
    params = tuple((name, value) for name, value in row["params"])
    return Record(
        Cell(**{name: row[name] for name in _CELL}, params=params),
        tuple(row["versions"]),
        scores={**scores, **row["other_scores"]},
        seconds=row["seconds"],
        error=row["error"],
        warnings=tuple(row["warnings"]),
        digest=row["digest"],
        predictions=None if row["predictions"] is None else tuple(row["predictions"]),
        provenance={**row["document"], **own},
        log=row["log"],
    )


def _set_up_connection(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # `_writing` begins transactions; reading needs none
    connection.execute("PRAGMA synchronous=NORMAL")
