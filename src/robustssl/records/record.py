"""The record: what a cell came to. Needs no database, so that any machine can write one."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from robustssl.cell import Cell, Versions, cell_key
from robustssl.errors import InputError
from robustssl.spec import parse

# What code that reads a stranger's words may come to.
UNREADABLE = (
    *(ValueError, TypeError, KeyError, AttributeError),
    *(RecursionError, ArithmeticError),
)

SCORES = ("accuracy", "balanced_accuracy", "macro_f1", "auroc", "detection")


@dataclass(frozen=True)
class Record:
    """Scores of a cell, or its error; how long it took (`seconds`) and what it was run with.

    `digest` is that of the test predictions; `predictions` are kept only on request. `log` is where
    in the code it failed; it names folders of a machine, so it is not exported.
    """

    cell: Cell
    versions: Versions
    scores: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None
    warnings: tuple[str, ...] = ()
    digest: str | None = None
    predictions: tuple[int, ...] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    log: str | None = None

    def __post_init__(self) -> None:
        bad = [name for name, score in self.scores.items() if not math.isfinite(score)]
        if bad:
            raise InputError(f"the scores {bad} of {self.cell} are not finite")
        if self.error is None and not self.scores:
            raise InputError(f"a record needs scores or an error: {self.cell}")

    @property
    def key(self) -> str:
        return cell_key(self.cell, self.versions)

    def to_json(self) -> str:
        document = {"key": self.key, **asdict(self), "log": None}
        return json.dumps({k: v for k, v in document.items() if v is not None}, allow_nan=False)

    def _check_types(self) -> None:
        """What a stranger's file may have wrong."""
        for spec in (self.cell.spec, self.cell.environment, self.cell.dataset):
            parse(spec)
        if len(self.versions) != 3 or not isinstance(self.error, str | None):
            raise ValueError("there are three versions, and an error is a text")
        whole = (self.cell.labels, self.cell.seed, *self.versions)
        if not all(type(number) is int and 0 <= number < 2**63 for number in whole):
            raise ValueError("labels, seed and versions are whole numbers")
        if not all(0 <= self.scores[name] <= 1 for name in SCORES if name in self.scores):
            raise ValueError(f"a score lies outside [0, 1]: {dict(self.scores)}")
        if not self.seconds >= 0 or not isinstance(self.provenance, dict):
            raise ValueError("seconds is a number, provenance a mapping")

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """The record of a line that `to_json` wrote; refused if its key does not fit its cell."""
        try:
            document = json.loads(text)
            key = document.pop("key")
            cell = document.pop("cell")
            params = tuple((name, value) for name, value in cell.pop("params"))
            versions = document.pop("versions")
            lists: dict[str, Any] = {
                k: tuple(document.pop(k)) for k in ("warnings", "predictions") if k in document
            }
            record = cls(Cell(**cell, params=params), tuple(versions), **lists, **document)
            record._check_types()
        except UNREADABLE as error:
            raise InputError(f"not a record: {type(error).__name__}: {error}") from error
        if record.key != key:
            raise InputError(f"the key {key} does not belong to the cell {cell}")
        return record
