"""What a store holds: its records one by one, as the tidy frame, and counted."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from robustssl.cell import Versions
from robustssl.errors import InputError, bounded
from robustssl.method import Method
from robustssl.records.database import Database, again
from robustssl.records.extras import FOLDS, NO_EXTRAS, Extras
from robustssl.records.frame import with_methods
from robustssl.records.record import CRITERIA, SCORES, UNREADABLE, Record
from robustssl.records.rows import CELL, Reader, as_text
from robustssl.records.schema import (
    COUNTED_BY,
    SCORE_COLUMNS,
    methods,
    provenance,
    records,
    success,
)
from robustssl.spec import spell

_MANY = 1000  # records that are read at once


class Contents(Database):
    """A store as it is read."""

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
            return with_methods(
                frame.drop(columns=["other_scores", "method", "provenance"]),
                [known.get(number) for number in frame.method.tolist()],
                [made[number] for number in frame.provenance.tolist()],
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
