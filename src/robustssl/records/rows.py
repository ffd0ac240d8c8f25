"""A record as a row of a store, and back."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from robustssl.cell import Cell
from robustssl.errors import InputError
from robustssl.method import Method
from robustssl.records.record import Record
from robustssl.records.schema import SCORE_COLUMNS, records, shared_row

CELL = ("algorithm", "environment", "dataset", "labels", "t", "seed")
_OWN = ("dataset_sha256", "split_digest")  # what a provenance does not share with others


def row_of(record: Record) -> dict[str, Any]:
    """The columns of a record, but for what is kept once for many: its provenance and method."""
    return {
        **{name: getattr(record.cell, name) for name in CELL},
        **{name: record.scores.get(name) for name in SCORE_COLUMNS},
        **{name: record.provenance.get(name) for name in _OWN},
        "key": record.key,
        "params": record.cell.params,
        "versions": record.versions,
        "other_scores": {k: v for k, v in record.scores.items() if k not in SCORE_COLUMNS},
        "seconds": record.seconds,
        "error": record.error,
        "warnings": record.warnings,
        "digest": record.digest,
        "predictions": record.predictions,
        "log": record.log,
        "test_rows": record.test_rows,
        "sha256": record.sha256,
        "bits": record.bits,
    }


def shared_provenance(record: Record) -> dict[str, Any]:
    """The row of what a record's provenance shares with others."""
    return shared_row({k: v for k, v in record.provenance.items() if k not in _OWN})


def as_text(name: str, dialect: str) -> sa.ColumnElement[Any]:
    """A column, JSON as the text it is kept as: many records hold the same, and PostgreSQL cannot
    tell what is equal. SQLite keeps texts as they are, and has an index of them.
    """
    column = records.c[name]
    if not isinstance(column.type, sa.JSON):
        return column
    convert: Any = sa.cast if dialect == "postgresql" else sa.type_coerce
    text: sa.ColumnElement[Any] = convert(column, sa.String).label(name)
    return text


class Reader:
    """Makes records of rows, whose JSON is text, and refuses what is not as it was written.

    It is given the documents, as text, that records share, by their ids; what many records hold is
    parsed once.
    """

    def __init__(self, provenance: Mapping[str, str], methods: Mapping[str, str]) -> None:
        self._texts = {"provenance": provenance, "method": methods}
        self._shared = lru_cache(maxsize=None)(self._find)
        self._method = lru_cache(maxsize=None)(self._find_method)
        self._parsed = lru_cache(maxsize=1000)(json.loads)

    def _find(self, kind: str, id_: str) -> Any:
        """What is kept under an id, which is the digest of it."""
        if id_ not in self._texts[kind]:
            raise InputError(f"its {kind} {id_} is not in the store")
        document = json.loads(self._texts[kind][id_])
        if shared_row(document)["id"] != id_:
            raise InputError(f"its {kind} {id_} was altered: its digest does not fit it")
        return document

    def _find_method(self, id_: str) -> Method:
        return Method.from_dict(self._find("method", id_))

    def record(self, row: Mapping[str, Any]) -> Record:
        """The record of a row, which is whole, in its place and as it was written."""
        record = self._record(row)
        record.check_types()
        if row["key"] != record.key:
            raise InputError(f"its key {row['key']} is not that of its cell, {record.key}")
        written = row_of(record)
        if row["sha256"] not in (None, written["sha256"]):
            raise InputError("it was altered: its digest does not fit it")
        for name in (*CELL, *SCORE_COLUMNS, *_OWN):
            if row[name] != written[name]:
                raise InputError(f"it was altered: its {name} is {row[name]}, not {written[name]}")
        return record

    def _record(self, row: Mapping[str, Any]) -> Record:
        params = tuple((name, value) for name, value in self._parsed(row["params"]))
        scores = {name: row[name] for name in SCORE_COLUMNS if row[name] is not None}
        own = {name: row[name] for name in _OWN if row[name] is not None}
        predictions = row["predictions"]
        return Record(
            Cell(**{name: row[name] for name in CELL}, params=params),
            tuple(self._parsed(row["versions"])),
            scores={**scores, **json.loads(row["other_scores"])},
            seconds=row["seconds"],
            error=row["error"],
            warnings=tuple(self._parsed(row["warnings"])),
            digest=row["digest"],
            predictions=None if predictions is None else tuple(json.loads(predictions)),
            provenance={**self._shared("provenance", row["provenance"]), **own},
            log=row["log"],
            method=None if row["method"] is None else self._method(row["method"]),
            test_rows=row["test_rows"],
            bits=row["bits"],
        )
