"""Open environments: how unlabeled data come to differ from labeled data as t grows.

One environment per file. All random choices are made in `pools`, which does not see t. So labeled
and test rows are the same at every t, and from one t to the next unlabeled rows are only replaced.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from robustssl.cell import Cell
from robustssl.data import UNLABELED, Dataset, Pools, Rows, Split
from robustssl.errors import InputError
from robustssl.spec import Count, check_options

Matrix = npt.NDArray[Any]


def count(t: float, n: int) -> int:
    """How many of n rows or features are inconsistent at t."""
    return math.ceil(t * n - 1e-9)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The `controlled` protocol. A subclass divides the rows, degrades some of them, or both.

    mix: inconsistent rows replace consistent ones, or are added to them.
    access: what a learner is given. `consistent` is an oracle without the inconsistent rows,
    `labels` a ceiling that is given the labels of the unlabeled rows.
    test: the largest number of test rows, and of rows that are set aside.
    unlabeled: the largest number of unlabeled rows; with mix=add, of consistent and of inconsistent
    ones each. Both are drawn independently of t.
    """

    mix: Literal["replace", "add"] = "replace"
    access: Literal["all", "consistent", "labels"] = "all"
    test: Count | None = None
    unlabeled: Count | None = None

    version: ClassVar[int] = 2
    scales: ClassVar[bool] = False  # whether `split` standardises on its own
    paired: ClassVar[bool] = True  # whether a row is replaced by one of its own class

    def __post_init__(self) -> None:
        check_options(type(self), vars(self))

    def classes(self, data: Dataset) -> npt.NDArray[np.intp]:
        """The classes that take part, labeled or not; here, all."""
        return np.unique(data.y)

    def known(self, classes: int) -> int:
        """How many classes have labels, counted from the first; here, all."""
        return classes

    def chance(self, cell: Cell) -> Any:
        """What `pools` draws random numbers from.

        It does not depend on the environment, so that environments are compared on the same draws.
        """
        return cell.rng("dataset", "labels", "seed")

    def divide(self, data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """The consistent and the inconsistent rows. If there are none of the latter, the
        inconsistent rows are consistent ones, degraded.
        """
        raise NotImplementedError

    def degrade(self, pools: Pools, rows: Rows) -> Matrix:
        """The inconsistent rows as a learner sees them, the same at every t; here, unchanged."""
        return np.asarray(pools.data.X[rows])

    def pools(self, data: Dataset, labels: int, rng: Any) -> Pools:
        """Disjoint rows: labeled, test, consistent, inconsistent, set aside; they do not depend on
        t.
        """
        consistent, inconsistent = (_by_class(data, rows) for rows in self.divide(data, rng))
        dealt = [deal(data, rows, labels, rng) for rows in consistent]
        labeled, test, consistent = (list(part) for part in zip(*dealt, strict=True))
        apart = [set_aside(rng.permutation(rows)) for rows in inconsistent]
        inconsistent = [rows for _, rows in apart] or consistent
        if self.paired:
            sizes = [min(map(len, pair)) for pair in zip(consistent, inconsistent, strict=True)]
            consistent = [rows[:n] for rows, n in zip(consistent, sizes, strict=True)]
            inconsistent = [rows[:n] for rows, n in zip(inconsistent, sizes, strict=True)]
        order, seed = rng.integers(2**31, size=2).tolist()
        blended, other = blend(consistent, order), blend(inconsistent, order)
        n = min(len(blended), len(other), self.unlabeled or len(blended))
        return Pools(
            data,
            labeled=np.concatenate(labeled),
            test=blend(test, order)[: self.test],
            consistent=blended[:n],
            inconsistent=other[:n],
            aside=blend([np.empty(0, np.intp), *(rows for rows, _ in apart)], order)[: self.test],
            seed=seed,
        )

    def seen(self, pools: Pools, t: float) -> tuple[Matrix, Rows]:
        """The unlabeled rows at t: the first ceil(t n) inconsistent rows, and consistent ones."""
        k = count(t, len(pools.inconsistent))
        kept = pools.consistent[k:] if self.mix == "replace" else pools.consistent
        added = pools.inconsistent[: 0 if self.access == "consistent" else k]
        X = np.concatenate([self.degrade(pools, added), pools.data.X[kept]])
        return X, np.concatenate([added, kept])

    def split(self, pools: Pools, t: float) -> Split:
        """The split at t. The labels of unlabeled rows are left out, except with access=labels.
        Then the rows of known classes have their labels, and rows of other classes are left out,
        since they cannot be used.
        """
        data = pools.data
        X, rows = self.seen(pools, t)
        y = np.full(len(rows), UNLABELED)
        if self.access == "labels":
            known = np.isin(data.y[rows], data.y[pools.labeled])
            X, rows = X[known], rows[known]
            y = data.y[rows]
        return Split(
            X=np.concatenate([data.X[pools.labeled], X]),
            y=np.concatenate([data.y[pools.labeled], y]),
            rows=np.concatenate([pools.labeled, rows]),
            X_test=data.X[pools.test],
            y_test=data.y[pools.test],
            test_rows=pools.test,
        )


def deal(
    data: Dataset, rows: Rows, labels: int, rng: np.random.Generator
) -> tuple[Rows, Rows, Rows]:
    """The consistent rows of one class: labeled rows first; of the others, half for testing and
    half for the pool.
    """
    if len(rows) < labels + 2:
        raise InputError(
            f"{labels} labels per class are too many for {data.name}: class "
            f"{data.class_name(data.y[rows[0]])} has {len(rows)} consistent rows, and {labels + 2} "
            "are needed to leave one test row and one unlabeled row"
        )
    rows = rng.permutation(rows)
    middle = labels + (len(rows) - labels) // 2
    return rows[:labels], rows[labels:middle], rows[middle:]


def set_aside(rows: Rows) -> tuple[Rows, Rows]:
    """A fifth of the inconsistent rows, kept to measure detection, and the others."""
    fifth = len(rows) // 5
    return rows[:fifth], rows[fifth:]


def blend(parts: Sequence[Rows], seed: int) -> Rows:
    """The parts merged into one sequence whose every stretch holds about the same share of each.

    The place of a row depends only on the seed and the sizes: parts of equal sizes are merged
    alike.
    """
    rng = np.random.default_rng(seed)
    places = [(np.arange(len(rows)) + rng.random(len(rows))) / max(len(rows), 1) for rows in parts]
    blended: Rows = np.concatenate(parts)[np.argsort(np.concatenate(places), kind="stable")]
    return blended


def _by_class(data: Dataset, rows: Rows) -> list[Rows]:
    return [rows[data.y[rows] == label] for label in np.unique(data.y[rows])]
