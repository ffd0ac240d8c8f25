"""Plain arrays between strangers: what a dataset, its pools and a split are."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from robustssl.errors import InputError

UNLABELED = -1

Rows = npt.NDArray[np.intp]


def digest(*arrays: npt.NDArray[Any]) -> str:
    """sha256 of the arrays' shapes and values."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).data)
    return sha.hexdigest()


@dataclass(frozen=True, eq=False)
class Dataset:
    """X (n, d) and class codes y (n,), 0 to K - 1. `meta` names the classes, the owner, the
    licence.
    """

    name: str
    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.intp]
    kind: Literal["tabular"] = "tabular"
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.X) != len(self.y):
            raise InputError(f"{self.name}: {len(self.X)} rows, but {len(self.y)} labels")
        bad = np.argwhere(~np.isfinite(self.X))
        if len(bad):
            row, column = bad[0]
            raise InputError(f"{self.name}: the value in row {row}, column {column} is not finite")
        classes = np.unique(self.y)
        if not np.array_equal(classes, np.arange(len(classes))):
            raise InputError(f"{self.name}: class codes must run from 0 without a gap")

    @cached_property
    def sha256(self) -> str:
        return digest(self.X, self.y)


@dataclass(frozen=True, eq=False)
class Pools:
    """Row ids from which the splits of every t are made.

    `aside` are inconsistent rows that no split uses, kept to measure detection. `columns` is the
    order in which features are lost, where the environment loses any; `seed` is for later draws.
    """

    data: Dataset
    labeled: Rows
    test: Rows
    consistent: Rows
    inconsistent: Rows
    aside: Rows
    columns: Rows = field(default_factory=lambda: np.empty(0, np.intp))
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Split:
    """What a learner is fitted on and tested on: y is -1 where unlabeled; rows are row ids."""

    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.intp]
    rows: Rows
    X_test: npt.NDArray[np.float64]
    y_test: npt.NDArray[np.intp]
    test_rows: Rows

    @property
    def digest(self) -> str:
        return digest(self.rows, self.y, self.test_rows)
