"""Where records are kept: what is done, what failed, what is stale.

A store is a file (SQLite) or, for teams, a database by its URL (PostgreSQL). A cell has at most one
success; errors are attempts beside it. The first success stays, unless another one holds extras
that it lacks (`Extras`): then that one takes its place, as a whole, so that all scores of a record
are of the same models. The records of a group are committed together, the moment they exist: a
process killed anywhere leaves a whole store.
"""

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from robustssl.cell import Versions
from robustssl.errors import InputError, bounded
from robustssl.method import Method
from robustssl.records.database import Database, again
from robustssl.records.frame import with_methods
from robustssl.records.places import NoStoreError, url_of
from robustssl.records.record import (
    CRITERIA,
    FOLDS,
    NO_EXTRAS,
    SCORES,
    UNREADABLE,
    Extras,
    Record,
)
from robustssl.records.rows import CELL, Reader, as_text, row_of, shared_provenance
from robustssl.records.schema import (
    COUNTED_BY,
    SCORE_COLUMNS,
    insert,
    meta,
    method_row,
    methods,
    provenance,
    records,
    success,
    writing,
)
from robustssl.spec import spell

_MANY = 1000  # records that are read at once
_OTHERWISE = (
    "cells whose records lacked something were run again, and some predictions differ from those "
    "of the records that are replaced: another device, or another version of a library"
)


class Store(Database):
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
    def _with(self, extras: Extras) -> sa.ColumnElement[bool]:
        """The condition of a success with extras."""
        found: sa.ColumnElement[bool] = success
        if extras.bits:
            found &= records.c.bits.is_not(None)
        if extras.criteria:
            with self._engine.connect() as connection:
                made = connection.execute(sa.select(provenance.c.id, provenance.c.document)).all()
            found &= records.c.provenance.in_([id_ for id_, known in made if FOLDS in known])
        return found

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

    def records(self) -> Iterator[Record]:
        """Every record, errors too, in the order in which they came. A file that is damaged is
        refused, and a record that is not as it was written.
        """
        for problem in self._damage():
            raise InputError(f"{self.place} is damaged: {problem}")
        with self._refusals(), self._engine.connect() as connection:
            reader = self._reader(connection)
        for ids in self._ids():
            for row in self._rows(ids[0], ids[-1]):
                with self._parsing():
                    record = reader.record(row)
                yield record

    def _damage(self) -> list[str]:
        """What the database finds wrong with its file."""
        if self._dialect != "sqlite":
            return []
        with self._refusals(), self._engine.connect() as connection:
            found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        return [reason for reason in found if reason != "ok"]

    def _reader(self, connection: sa.Connection) -> Reader:
        made, described = (
            dict(map(tuple, connection.execute(_documents(table))))
            for table in (provenance, methods)
        )
        return Reader(made, described)

    def _ids(self) -> Iterator[Sequence[int]]:
        """The ids of all records, so many at a time."""
        with self._refusals(), self._engine.connect() as connection:
            query = sa.select(records.c.id).order_by(records.c.id)
            ids = connection.execute(query).scalars().all()
        return (ids[start : start + _MANY] for start in range(0, len(ids), _MANY))

    def _rows(self, first: int, last: int) -> list[dict[str, Any]]:
        """The rows of records from one to another."""
        names = [column.name for column in records.c]
        query = sa.select(*self._texts(names)).where(records.c.id.between(first, last))
        with self._refusals(), self._engine.connect() as connection:
            rows = connection.execute(query.order_by(records.c.id)).all()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def problems(self) -> Iterator[str]:
        """What is wrong with the file or with a record, in a sentence each."""
        yield from (f"the file: {reason}" for reason in self._damage())
        with self._refusals(), self._engine.connect() as connection:
            reader = self._reader(connection)
        for ids in self._ids():
            try:
                yield from _problems(reader, self._rows(ids[0], ids[-1]))
            except InputError:  # the database cannot read one of them
                for number in ids:
                    try:
                        yield from _problems(reader, self._rows(number, number))
                    except InputError as error:
                        yield f"record {number}: {error}"

    def without_digest(self) -> int:
        """How many records came from version 0.1, which wrote no digests to check them by."""
        query = sa.select(sa.func.count(records.c.id)).where(records.c.sha256.is_(None))
        with self._refusals(), self._engine.connect() as connection:
            return connection.execute(query).scalar_one()

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

    @again
    def counts(
        self,
        ts: Sequence[float] | None = None,
        seeds: Sequence[int] | None = None,
        extras: Extras = NO_EXTRAS,
    ) -> pd.DataFrame:
        """Successes with these extras, by the curve and the versions they are of, counted where
        they lie: how many `cells` (at those t and seeds), their `seconds`, what `each` of all took.
        """
        of, seconds = self._texts(COUNTED_BY), records.c.seconds
        asked: Any = sa.true()
        if ts is not None and seeds is not None:
            asked = records.c.t.in_(ts) & records.c.seed.in_(seeds)
        sums = [sa.func.sum(sa.case((asked, what), else_=0)) for what in (1, seconds)]
        query = sa.select(*of, *sums, sa.func.avg(seconds)).where(self._with(extras)).group_by(*of)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return self._spelt(pd.DataFrame(rows, columns=[*COUNTED_BY, "cells", "seconds", "each"]))

    @again
    def frame(self, failed_only: bool = False) -> pd.DataFrame:
        """Every record, or those of cells that have errors only, as a row of the tidy frame (see
        `robustssl.records.frame`).
        """
        scores = (*SCORE_COLUMNS, "other_scores")
        told = ("test_rows", "seconds", "error", "warnings", "log", "digest")
        columns = ("key", *CELL, *scores, "params", "versions", *told, "method", "provenance")
        query = sa.select(*self._texts(columns)).order_by(records.c.id)
        if failed_only:
            done = sa.select(records.c.key).where(success)
            query = query.where(~success, records.c.key.not_in(done))
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
            described, made = (
                dict(map(tuple, connection.execute(sa.select(table.c.id, table.c.document))))
                for table in (methods, provenance)
            )
        frame = self._spelt(pd.DataFrame(rows, columns=list(columns)))
        failed = frame.error.notna()
        frame.loc[failed, "error"] = frame.error[failed].map(bounded)  # older stores keep it whole
        with self._parsing():
            known = {number: Method.from_dict(found) for number, found in described.items()}
            frame["warnings"] = _decoded(frame.warnings)
            others = _decoded(frame.other_scores)
            for name in (*SCORES[len(SCORE_COLUMNS) :], *CRITERIA):
                frame[name] = [found.get(name, np.nan) for found in others]
            data = {number: found.get("data", {}) for number, found in made.items()}
            return with_methods(
                frame.drop(columns=["other_scores", "method", "provenance"]),
                [known.get(number) for number in frame.method.tolist()],
                [data[number] for number in frame.provenance.tolist()],
            )

    def _texts(self, names: Iterable[str]) -> list[sa.ColumnElement[Any]]:
        return [as_text(name, self._dialect) for name in names]

    def _spelt(self, frame: pd.DataFrame) -> pd.DataFrame:
        """With `algorithm` spelt with its params, and `versions` as numbers."""
        with self._parsing():
            pairs = list(zip(frame.algorithm.tolist(), frame.params.tolist(), strict=True))
            spelt = {(name, text): spell(name, dict(json.loads(text))) for name, text in set(pairs)}
            versions = [_three(numbers) for numbers in _decoded(frame.versions)]
            frame = frame.assign(algorithm=[spelt[pair] for pair in pairs])
            frame["versions"] = pd.Series(versions, frame.index, dtype=object)
            return frame.drop(columns="params")


def _documents(table: sa.Table) -> sa.Select[Any]:
    return sa.select(table.c.id, sa.cast(table.c.document, sa.String))


def _problems(reader: Reader, rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        try:
            reader.record(row)
        except UNREADABLE as error:
            yield f"record {row['id']}: {error}"


def _three(numbers: Sequence[int]) -> Versions:
    algorithm, environment, dataset = numbers
    return algorithm, environment, dataset


def _decoded(column: pd.Series) -> list[Any]:
    texts = column.tolist()
    known = {text: json.loads(text) for text in set(texts)}
    return [known[text] for text in texts]


def exists(place: str | Path) -> bool:
    """Whether there is a store, in a database that can be reached."""
    if url_of(place) is None:
        return Path(place).exists()
    try:
        Store(place, create=False).close()
    except NoStoreError:
        return False
    return True
