"""Where records are kept: what is done, what failed, what is stale.

A store is a file (SQLite) or, for teams, a database by its URL (PostgreSQL). A cell has at most one
success; errors are attempts beside it. The first success stays, unless another one holds extras
that it lacks (`Extras`): then that one takes its place, as a whole, so that all scores of a record
are of the same models. The records of a group are committed together, the moment they exist: a
process killed anywhere leaves a whole store.
"""

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from robustssl.records.contents import Contents
from robustssl.records.database import again
from robustssl.records.extras import NO_EXTRAS, Extras
from robustssl.records.places import NoStoreError, url_of
from robustssl.records.record import Record
from robustssl.records.rows import row_of, shared_provenance
from robustssl.records.schema import (
    insert,
    meta,
    method_row,
    methods,
    provenance,
    records,
    success,
    writing,
)

_OTHERWISE = (
    "cells whose records lacked something were run again, and some predictions differ from those "
    "of the records that are replaced: another device, or another version of a library"
)


class Store(Contents):
    """Records in a file or, by its URL, in a database; a context manager. `create=False` refuses
    one that is not there. `place` is what to call it: a password in a URL is not shown.
    """

    def add(self, record: Record) -> bool:
        """Commit a record; False if the success that the cell has already stays."""
        return self.add_all([record]) == 1

    @again
    def add_all(self, records: Sequence[Record]) -> int:
        """Commit records, all or none; how many are new, or take the place of a success that lacks
        extras. A lost connection is made again.
        """
        with writing(self._engine) as connection:
            return sum(self._add(connection, record) for record in records)

    def _add(self, connection: sa.Connection, record: Record) -> int:
        if self._insert(connection, record):
            return 1
        if record.extras == NO_EXTRAS:
            return 0
        before = self._success(connection, record.key)
        if record.extras.within(before.extras):
            return 0
        if before.digest != record.digest:
            warnings.warn(_OTHERWISE, stacklevel=5)
        connection.execute(records.delete().where(records.c.key == record.key, success))
        return self._insert(connection, record.with_extras_of(before))

    def _success(self, connection: sa.Connection, key: str) -> Record:
        """The one success of a cell."""
        names = [column.name for column in records.c]
        query = sa.select(*self._texts(names)).where(records.c.key == key, success)
        row = connection.execute(query).one()
        with self._parsing():
            return self._reader(connection).record(dict(zip(names, row, strict=True)))

    def _insert(self, connection: sa.Connection, record: Record) -> int:
        kept = [(provenance, shared_provenance(record))]
        if record.method is not None:
            kept.append((methods, method_row(record.method)))
        new = insert(self._dialect)
        for table, row in kept:
            connection.execute(new(table).values(row).on_conflict_do_nothing())
        row = {
            **row_of(record),
            "provenance": kept[0][1]["id"],
            "method": kept[1][1]["id"] if record.method is not None else None,
        }
        added = new(records).values(row).on_conflict_do_nothing().returning(records.c.id)
        return len(connection.execute(added).all())

    def done(self, extras: Extras = NO_EXTRAS) -> set[str]:
        """Keys of the cells that have a success with these extras."""
        return self._keys(self._with(extras))

    def failed(self) -> set[str]:
        """Keys of the cells that have errors only."""
        return self._keys(~success) - self.done()

    @again
    def _keys(self, condition: sa.ColumnElement[bool]) -> set[str]:
        with self._engine.connect() as connection:
            return set(connection.execute(sa.select(records.c.key).where(condition)).scalars())

    @again
    def __len__(self) -> int:
        with self._engine.connect() as connection:
            return connection.execute(sa.select(sa.func.count(records.c.id))).scalar_one()

    @again
    def digests(self, dataset: str) -> set[str]:
        """The sha256 of the data that the records of a dataset were made with."""
        found = sa.select(records.c.dataset_sha256).where(records.c.dataset == dataset, success)
        with self._engine.connect() as connection:
            return {sha for (sha,) in connection.execute(found.distinct()) if sha}

    @again
    def note(self, name: str, value: Any) -> None:
        """Keep something that belongs to the store, not to a record, under its name."""
        row = {"name": name, "value": json.dumps(value)}
        with writing(self._engine) as connection:
            kept = insert(self._dialect)(meta).values(row)
            connection.execute(kept.on_conflict_do_update(index_elements=["name"], set_=row))

    @again
    def notes(self, prefix: str) -> list[Any]:
        """What is kept under names that begin so."""
        query = sa.select(meta.c.value).where(meta.c.name.startswith(prefix, autoescape=True))
        with self._engine.connect() as connection:
            found = connection.execute(query.order_by(meta.c.name)).scalars().all()
        with self._parsing():
            return [json.loads(value) for value in found]


def exists(place: str | Path) -> bool:
    """Whether there is a store, in a database that can be reached."""
    if url_of(place) is None:
        return Path(place).exists()
    try:
        Store(place, create=False).close()
    except NoStoreError:
        return False
    return True
