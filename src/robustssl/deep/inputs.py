"""What nets are trained on: the problem of one model, and the form of its rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.data import ViewedRows
from robustssl.views import Form


@dataclass(frozen=True)
class Problem:
    """The rows that one model is trained on, and the seed of its random numbers."""

    X: npt.NDArray[Any] | ViewedRows
    codes: npt.NDArray[np.intp]
    unlabeled: npt.NDArray[Any] | ViewedRows
    seed: int


@dataclass(frozen=True)
class Inputs:
    """The form and the shape of rows, how many views come with each, weak and strong, and how many
    columns each encoder has, if there are several.
    """

    form: Form
    shape: tuple[int, ...]
    views: tuple[int, int] = (0, 0)
    blocks: tuple[int, ...] = ()


def inputs_of(rows: Any) -> Inputs:
    if isinstance(rows, ViewedRows):
        return Inputs("vectors", rows.shape[1:], (rows.weak, rows.strong), rows.blocks)
    return Inputs("image" if rows.ndim == 4 else "table", rows.shape[1:])
