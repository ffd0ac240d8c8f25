"""What is audited: labeled rows with their classes, and unlabeled rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import train_test_split

from robustssl.audits import remarks
from robustssl.audits.folds import Both
from robustssl.data import Kind
from robustssl.errors import InputError

Classes = npt.NDArray[Any]

FEWEST = 5  # labeled rows of a class
FEWEST_UNLABELED = 30


@dataclass(frozen=True, eq=False)
class Pair:
    """Labeled rows with their classes y, and unlabeled rows, both as they were read.

    labeled, unlabeled: frames (tabular; the second has the columns that both have), arrays of bytes
    (image) or arrays of texts, which come from the column `text` of a frame and are compared, as
    images are, by the vectors of the `encoder` (a spec). lost: columns that only the labeled rows
    have. notes: what was left out. rows: in a sample, the numbers of its unlabeled rows. source:
    the unlabeled rows with all their columns, or the files of images. time: when each row was made,
    as numbers that grow with time, nan if not known. group: numbers that are equal for rows of one
    group. Neither is among the compared columns.
    """

    labeled: Any
    y: Classes
    unlabeled: Any
    kind: Kind = "tabular"
    text: str | None = None
    encoder: str = ""
    lost: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    rows: npt.NDArray[np.intp] | None = None
    time: Both | None = None
    group: Both | None = None
    source: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        counts = pd.Series(self.y).value_counts()
        if len(counts) > len(self.y) / FEWEST and len(counts) > 2:
            more = f": {remarks.BIN}" if np.issubdtype(self.y.dtype, np.number) else ""
            raise InputError(
                f"the target must hold classes with at least {FEWEST} labeled rows each, but it "
                f"has {len(counts)} different values in {len(self.y)} rows{more}"
            )
        if len(counts) < 2 or counts.iloc[1] < FEWEST:
            there = ", ".join(f"{n} of class {name}" for name, n in counts.items())
            raise InputError(
                f"an audit needs at least 2 classes with at least {FEWEST} labeled rows each, got "
                + (there or "no labeled rows")
            )
        if counts.min() < FEWEST:
            self._leave_out(counts.index[counts < FEWEST])
        if len(self.unlabeled) < FEWEST_UNLABELED:
            raise InputError(
                f"an audit needs at least {FEWEST_UNLABELED} unlabeled rows, got "
                f"{len(self.unlabeled)}"
            )

    def _leave_out(self, rare: pd.Index) -> None:
        keep = np.flatnonzero(~pd.Series(self.y).isin(rare))
        share = 1 - len(keep) / len(self.y)
        for name, value in self._of(keep).items():
            object.__setattr__(self, name, value)
        names = remarks.listed(rare)
        self.notes.append(remarks.RARE.format(fewest=FEWEST, names=names, share=share))

    def _of(
        self, labeled: npt.NDArray[np.intp], unlabeled: npt.NDArray[np.intp] | None = None
    ) -> dict[str, Any]:
        """The fields that hold a value for each row, of some rows."""
        rows = np.arange(len(self.unlabeled)) if unlabeled is None else unlabeled
        return {
            "labeled": take(self.labeled, labeled),
            "y": self.y[labeled],
            "unlabeled": take(self.unlabeled, rows),
            "time": self.time and Both(self.time.labeled[labeled], self.time.unlabeled[rows]),
            "group": self.group and Both(self.group.labeled[labeled], self.group.unlabeled[rows]),
            "source": None if self.source is None else self.source.iloc[rows],
        }

    def sample(self, labeled: int, unlabeled: int) -> "Pair":
        """At most so many rows, drawn at random; the labeled rows stratified by class."""
        chosen = np.arange(len(self.y))
        if len(self.y) > labeled:
            chosen, _ = train_test_split(
                chosen, train_size=labeled, stratify=self.y, random_state=0
            )
        rows = np.sort(np.random.default_rng(0).permutation(len(self.unlabeled))[:unlabeled])
        return replace(self, rows=rows, **self._of(chosen, rows))

    def without(self, columns: Sequence[str]) -> "Pair":
        """The rows of a table without some columns."""
        labeled, unlabeled = (
            frame[[name for name in frame if str(name) not in columns]]
            for frame in (self.labeled, self.unlabeled)
        )
        lost = tuple(name for name in self.lost if name not in columns)
        return replace(self, labeled=labeled, unlabeled=unlabeled, lost=lost)


def take(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def is_number(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def texts_of(column: Any) -> npt.NDArray[np.object_]:
    """Texts; a missing one is empty."""
    return np.asarray(pd.Series(column, dtype=object).fillna("").astype(str), object)
