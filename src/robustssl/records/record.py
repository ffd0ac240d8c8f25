"""The record: what a cell came to. Needs no database, so that any machine can write one."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from robustssl.cell import Cell, Versions, cell_key
from robustssl.errors import InputError, bounded
from robustssl.method import Method
from robustssl.records.bits import right_of
from robustssl.records.documents import DEEPEST, is_plain, sha256_of
from robustssl.records.extras import FOLDS, Extras
from robustssl.spec import parse

# Exceptions that parsing untrusted input may raise.
UNREADABLE = (
    *(ValueError, TypeError, KeyError, AttributeError),
    *(RecursionError, ArithmeticError),
)

# Scores of rows that no method saw, from 0 to 1, higher is better: what reports show.
SCORES = ("accuracy", "balanced_accuracy", "macro_f1", "auroc", "detection", "accuracy_there")

# Scores that need no test row, and their ranges: settings may be chosen by them (docs/metrics.md).
CRITERIA = {
    "cv_accuracy": (0.0, 1.0),
    "cv_log_loss": (0.0, math.inf),  # the one of which less is better
    "confidence": (-math.inf, 0.0),
    "bnm": (0.0, 1.0),
    "rankme": (1.0, math.inf),
    "agreement": (0.0, 1.0),
}
_RANGES = {**dict.fromkeys(SCORES, (0.0, 1.0)), **CRITERIA}

_LONGEST_LOG = 20_000  # characters


@dataclass(frozen=True)
class Record:
    """Scores of a cell, or its error; how long it took (`seconds`) and what it was run with.

    `method` says what the method is, `test_rows` how many rows it was tested on. `digest` is that
    of the test predictions; `predictions`, and `bits` (see `robustssl.records.bits`), are kept only
    on request. `log` is where in the code it failed; it names folders of a machine, so it is not
    exported. Texts that code of others wrote are cut where they are very long.
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
    method: Method | None = None
    test_rows: int | None = None
    bits: str | None = None

    def __post_init__(self) -> None:
        bad = [name for name, score in self.scores.items() if not math.isfinite(score)]
        if bad:
            raise InputError(f"the scores {bad} of {self.cell} are not finite")
        object.__setattr__(self, "scores", {name: float(x) for name, x in self.scores.items()})
        if isinstance(self.seconds, int):
            object.__setattr__(self, "seconds", float(self.seconds))
        if self.error is None and not self.scores:
            raise InputError(f"a record needs scores or an error: {self.cell}")
        if not isinstance(self.provenance, dict) or not is_plain(self.provenance):
            raise InputError(
                "the provenance of a record must be a mapping of texts and finite numbers, at most "
                f"{DEEPEST} levels deep"
            )
        if self.error is not None:
            object.__setattr__(self, "error", bounded(self.error))
        if self.log is not None:
            object.__setattr__(self, "log", bounded(self.log, _LONGEST_LOG))
        object.__setattr__(self, "warnings", tuple(map(bounded, self.warnings)))

    @property
    def extras(self) -> Extras:
        """What it holds. A criterion that is not defined, or a fold that failed, is not made up for
        by another run: what counts is that it was asked for.
        """
        return Extras(FOLDS in self.provenance, self.bits is not None)

    def with_extras_of(self, other: "Record") -> "Record":
        """With what another success of the cell holds beside, if both made the same predictions."""
        if self.digest != other.digest:
            return self
        folds = {k: v for k, v in other.provenance.items() if k == FOLDS}
        return replace(
            self,
            scores={**other.scores, **self.scores},
            predictions=self.predictions or other.predictions,
            bits=self.bits or other.bits,
            provenance={**folds, **self.provenance},
        )

    @cached_property
    def key(self) -> str:
        return cell_key(self.cell, self.versions)

    @property
    def sha256(self) -> str:
        """A digest of all that is exported, so that a record which was altered is known."""
        return sha256_of(self._document())

    def _document(self) -> dict[str, Any]:
        document = {
            "key": self.key,
            "cell": {name: getattr(self.cell, name) for name in Cell.__slots__},
            "versions": self.versions,
            "method": None if self.method is None else self.method.to_dict(),
            "scores": dict(self.scores),
            "seconds": self.seconds,
            "error": self.error,
            "warnings": self.warnings,
            "digest": self.digest,
            "predictions": self.predictions,
            "test_rows": self.test_rows,
            "bits": self.bits,
            "provenance": self.provenance,
        }
        return {name: value for name, value in document.items() if value is not None}

    def to_json(self) -> str:
        document = self._document()
        return json.dumps({**document, "sha256": sha256_of(document)})

    @classmethod
    def from_json(cls, text: str, strict: bool = False) -> "Record":
        """The record of a line that `to_json` wrote; refused if its key does not fit its cell, or
        its digest what it holds. Records of version 0.1 have no digest: `strict` refuses them.
        """
        try:
            document = json.loads(text)
            key, sha256 = document["key"], document.pop("sha256", None)
            made = cls._of(document)
            made.check_types()
            if "\\u" in text:
                json.dumps(document, ensure_ascii=False).encode()  # refuses half a character
            altered = sha256 not in (None, sha256_of(document))
        except UNREADABLE as error:
            raise InputError(f"not a record: {type(error).__name__}: {error}") from error
        if made.key != key:
            raise InputError(f"the key {key} does not belong to the cell {made.cell}")
        if strict and sha256 is None:
            raise InputError(f"the record of {made.cell} has no digest")
        if altered:
            raise InputError(f"the record of {made.cell} was altered: its digest does not fit it")
        return made

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> "Record":
        cell, method = document["cell"], document.get("method")
        params = tuple((name, value) for name, value in cell["params"])
        more: dict[str, Any] = {
            name: tuple(value) if name in ("warnings", "predictions") else value
            for name, value in document.items()
            if name not in ("key", "cell", "versions", "method")
        }
        return cls(
            Cell(**{**cell, "params": params}),
            tuple(document["versions"]),
            method=None if method is None else Method.from_dict(method),
            **more,
        )

    def check_types(self) -> None:
        """What an untrusted file may have wrong."""
        for spec in (self.cell.spec, self.cell.environment, self.cell.dataset):
            parse(spec)
        if len(self.versions) != 3:
            raise ValueError("versions must be three numbers")
        if not all(isinstance(text, str) for text in (*self.warnings, self.digest or "")):
            raise ValueError("warnings and digest must be texts")
        counts = (self.cell.labels, self.cell.seed, *self.versions, self.test_rows or 0)
        if not all(type(number) is int and 0 <= number < 2**63 for number in counts):
            raise ValueError("labels, seed, versions and test_rows must be whole numbers")
        for name in _RANGES.keys() & self.scores.keys():
            least, most = _RANGES[name]
            if not least <= (score := self.scores[name]) <= most:
                raise ValueError(f"{name} must lie between {least:g} and {most:g}, got {score}")
        if self.bits is not None:
            right = right_of(self.bits, self.test_rows or 0)
            if abs(right.mean() - self.scores["accuracy"]) > 1e-9:
                raise ValueError("the share of bits that are 1 must be the accuracy")
        if not 0 <= self.seconds < math.inf:
            raise ValueError(f"seconds must be a finite number of at least 0, got {self.seconds}")
