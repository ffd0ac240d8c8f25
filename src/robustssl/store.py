"""Where records are kept (SQLite): what is done, what failed, what is stale.

A cell has at most one success; errors are attempts beside it. Each record is committed on its own,
the moment it exists, in WAL mode: a process killed anywhere leaves a whole store.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np
import pandas as pd
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from robustssl import registry
from robustssl.cell import Cell
from robustssl.errors import InputError
from robustssl.record import SCORES, Record

SCHEMA = 1
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
    sa.Column("labels", sa.Integer, nullable=False),
    sa.Column("t", sa.Float, nullable=False),
    sa.Column("seed", sa.Integer, nullable=False),
    sa.Column("versions", sa.JSON, nullable=False),
    *(sa.Column(name, sa.Float) for name in _COLUMNS),
    sa.Column("other_scores", sa.JSON, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("error", sa.String),
    sa.Column("warnings", sa.JSON, nullable=False),
    sa.Column("digest", sa.String),
    sa.Column("predictions", sa.JSON(none_as_null=True)),
    sa.Column("dataset_sha256", sa.String),
    sa.Column("split_digest", sa.String),
    sa.Column("provenance", sa.ForeignKey("provenance.id"), nullable=False),
)
_success = _records.c.error.is_(None)
sa.Index("one_success", _records.c.key, unique=True, sqlite_where=_success)

_CELL = ("algorithm", "environment", "dataset", "labels", "t", "seed")
_VERSIONED: tuple[registry.Kind, ...] = ("algorithm", "environment", "dataset")
_OWN_PROVENANCE = ("dataset_sha256", "split_digest")


class Store:
    """Records in a file; a context manager. `create=False` refuses a file that is not there."""

    def __init__(self, path: str | Path, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise InputError(f"there is no store at {self.path}; `robustssl run` makes one")
        if not self.path.absolute().parent.is_dir():
            raise InputError(f"the folder of the store {self.path} does not exist")
        self._engine = sa.create_engine(_url(self.path), connect_args={"timeout": 60})
        sa.event.listen(self._engine, "connect", _set_up_connection)
        with self._refusals():
            self._create() if create else self._check()

    def _create(self) -> None:
        """Make the tables where there are none, and turn to write-ahead logging for good."""
        with self._writing() as connection:
            if not sa.inspect(connection).get_table_names():
                _tables.create_all(connection)
                connection.execute(_meta.insert().values(name="schema", value=str(SCHEMA)))
        self._check()
        with self._engine.connect() as connection:
            for _ in range(100):  # this pragma never waits, and another process may be at it
                with suppress(sa.exc.OperationalError):
                    connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                    return
                time.sleep(0.1)

    def _check(self) -> None:
        with self._engine.connect() as connection:
            if not {"meta", "records"} <= set(sa.inspect(connection).get_table_names()):
                raise InputError(f"{self.path} is a database, but not a store of robustssl")
            query = sa.select(_meta.c.value).where(_meta.c.name == "schema")
            value = connection.execute(query).scalar() or ""
            if not value.isdigit():
                raise InputError(f"{self.path} is not a store of robustssl: it names no schema")
            schema = int(value)
        if schema > SCHEMA:
            raise InputError(
                f"{self.path} was written by a newer version of robustssl (schema {schema}; this "
                f"one reads up to {SCHEMA}); upgrade robustssl to read it"
            )

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """A transaction that waits for the write lock at its start, where waiting is possible."""
        with self._engine.begin() as connection:
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
        except sa.exc.DatabaseError as error:
            reason = str(error.orig)
            if "not a database" in reason:
                raise InputError(f"{self.path} is not a store: {reason}") from error
            kept = ". What was committed before is kept" if "full" in reason else ""
            raise InputError(f"the store {self.path} cannot be used: {reason}{kept}") from error

    def add(self, record: Record) -> bool:
        """Commit a record; False if the cell has a success already (the first one stays)."""
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
        }
        with self._refusals():
            text = json.dumps(shared, sort_keys=True)
            row["provenance"] = hashlib.sha256(text.encode()).hexdigest()[:16]
            document = insert(_provenance).values(id=row["provenance"], document=shared)
            with self._writing() as connection:
                connection.execute(document.on_conflict_do_nothing())
                added = connection.execute(insert(_records).values(row).on_conflict_do_nothing())
        return added.rowcount == 1

    def done(self) -> set[str]:
        """Keys of the cells that have a success."""
        return self._keys(_success)

    def failed(self) -> set[str]:
        """Keys of the cells that have errors only."""
        return self._keys(~_success) - self.done()

    def _keys(self, condition: sa.ColumnElement[bool]) -> set[str]:
        with self._refusals(), self._engine.connect() as connection:
            return set(connection.execute(sa.select(_records.c.key).where(condition)).scalars())

    def digests(self, dataset: str) -> set[str]:
        """The sha256 of the data that the records of a dataset were made with."""
        found = sa.select(_records.c.dataset_sha256).where(_records.c.dataset == dataset, _success)
        with self._engine.connect() as connection:
            return {sha for (sha,) in connection.execute(found.distinct()) if sha}

    def records(self) -> Iterator[Record]:
        """Every record, errors too, in the order in which they came."""
        query = (
            sa.select(_records, _provenance.c.document)
            .join(_provenance, _provenance.c.id == _records.c.provenance)
            .order_by(_records.c.id)
        )
        with self._refusals(), self._engine.connect() as connection:
            for row in connection.execute(query).mappings():
                yield _record(row)

    def frame(self) -> pd.DataFrame:
        """Every record as a row of a tidy frame; `algorithm` is spelt with its params.

        `stale` marks records of another version of algorithm, environment or dataset than the
        present one.
        """
        scores = (*_COLUMNS, "other_scores")
        columns = ("key", *_CELL, *scores, "params", "versions", "seconds", "error", "warnings")
        query = sa.select(*(_records.c[name] for name in columns)).order_by(_records.c.id)
        with self._refusals(), self._engine.connect() as connection:
            rows = connection.execute(query).all()
        frame = pd.DataFrame(rows, columns=list(columns))
        named = zip(frame.algorithm, frame.environment, frame.dataset, strict=True)
        frame["stale"] = np.array(are_stale(list(named), list(frame.versions)), bool)
        frame["algorithm"] = [
            registry.spell(name, dict(params))
            for name, params in zip(frame.algorithm, frame.params, strict=True)
        ]
        for name in SCORES[len(_COLUMNS) :]:
            frame[name] = [others.get(name, np.nan) for others in frame.other_scores]
        return frame.drop(columns=["params", "versions", "other_scores"])


def failures(frame: pd.DataFrame) -> pd.DataFrame:
    """Of a store's frame, the last error of each present cell that has no success."""
    bad = frame[frame.error.notna() & ~frame.stale & ~frame.key.isin(frame[frame.error.isna()].key)]
    return bad.drop_duplicates("key", keep="last")


def are_stale(
    specs: Sequence[tuple[str, str, str]], versions: Sequence[Sequence[int]]
) -> list[bool]:
    """Which records have another version of what their specs name than the present one.

    The present version of what is not here is the newest among the records.
    """
    named = [
        [(kind, registry.parse(spec)[0]) for kind, spec in zip(_VERSIONED, row, strict=True)]
        for row in specs
    ]
    present: dict[Any, int] = {}
    for row, numbers in zip(named, versions, strict=True):
        for thing, number in zip(row, numbers, strict=True):
            present[thing] = max(number, present.get(thing, number))
    for thing in present:
        if registry.is_here(*thing):
            present[thing] = registry.version(*thing)
    return [
        any(present[thing] != number for thing, number in zip(row, numbers, strict=True))
        for row, numbers in zip(named, versions, strict=True)
    ]


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
    )


def _set_up_connection(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # `_writing` begins transactions; reading needs none
    connection.execute("PRAGMA synchronous=NORMAL")
