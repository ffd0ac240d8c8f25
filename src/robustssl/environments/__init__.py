"""Open environments: how unlabeled data come to differ from labeled data as t grows.

One environment a file. Everything random happens in `pools`, which cannot see t; so labeled and
test rows are the same at every t, and from one t to the next unlabeled rows are only replaced.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.cell import Cell
from robustssl.data import UNLABELED, Dataset, Pools, Rows, Split
from robustssl.errors import InputError

Matrix = npt.NDArray[np.float64]


def count(t: float, n: int) -> int:
    """How many of n are inconsistent at t."""
    return math.ceil(t * n - 1e-9)


class Environment:
    """The `controlled` protocol. A subclass says what the pools are and, maybe, what t does."""

    version = 1
    scales = False  # whether `split` standardises on its own

    def chance(self, cell: Cell) -> Any:
        """What `pools` draws from.

        Not from the environment either, so that environments are compared in pairs too.
        """
        return cell.rng("dataset", "labels", "seed")

    def pools(self, data: Dataset, labels: int, rng: Any) -> Pools:
        """Disjoint rows: labeled, test, consistent, inconsistent, set aside. Cannot see t."""
        raise NotImplementedError

    def unlabeled(self, pools: Pools, t: float) -> tuple[Matrix, Rows]:
        """The unlabeled rows at t: here the first ceil(t n) consistent ones give way to
        inconsistent ones.
        """
        k = count(t, len(pools.consistent))
        rows = np.concatenate([pools.inconsistent[:k], pools.consistent[k:]])
        return pools.data.X[rows], rows

    def split(self, pools: Pools, t: float) -> Split:
        """The split at t; the truth about the unlabeled rows stays behind."""
        X, y = pools.data.X, pools.data.y
        X_unlabeled, unlabeled = self.unlabeled(pools, t)
        return Split(
            X=np.concatenate([X[pools.labeled], X_unlabeled]),
            y=np.concatenate([y[pools.labeled], np.full(len(unlabeled), UNLABELED)]),
            rows=np.concatenate([pools.labeled, unlabeled]),
            X_test=X[pools.test],
            y_test=y[pools.test],
            test_rows=pools.test,
        )


def deal(
    data: Dataset, rows: Rows, labels: int, rng: np.random.Generator
) -> tuple[Rows, Rows, Rows]:
    """Consistent rows of one class: `labels` labeled ones; of the others half to test, half to the
    pool.
    """
    if len(rows) < labels + 2:
        label, more = data.y[rows[0]], labels + 2
        raise InputError(
            f"{labels} labels per class are too many for {data.name}: class {label} has "
            f"{len(rows)} consistent rows, and {more} are needed to leave one for the test set "
            "and one without a label"
        )
    rows = rng.permutation(rows)
    middle = labels + (len(rows) - labels) // 2
    return rows[:labels], rows[labels:middle], rows[middle:]


def set_aside(rows: Rows) -> tuple[Rows, Rows]:
    """A fifth of the inconsistent rows, for detection, and the others."""
    fifth = len(rows) // 5
    return rows[:fifth], rows[fifth:]
