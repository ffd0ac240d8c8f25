"""Open environments: how unlabeled data come to differ from labeled data as t grows.

One environment per file. All random choices are made in `pools`, which does not see t. So labeled
and test rows are the same at every t, and from one t to the next unlabeled rows are only replaced.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from robustssl.cell import Cell
from robustssl.data import UNLABELED, Dataset, Pools, Rows, Split
from robustssl.environments._dealing import Parts as Parts
from robustssl.environments._dealing import blend as blend
from robustssl.environments._dealing import by_class
from robustssl.environments._dealing import deal as deal
from robustssl.environments._dealing import first_rows as first_rows
from robustssl.environments._dealing import halves as halves
from robustssl.environments._dealing import set_aside as set_aside
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

    version: ClassVar[int] = 3
    score: ClassVar[str] = "accuracy"  # what reports show first
    scales: ClassVar[bool] = False  # whether `split` standardises on its own
    paired: ClassVar[bool] = True  # whether a row is replaced by one of its own class

    def __post_init__(self) -> None:
        check_options(type(self), vars(self))

    def classes(self, data: Dataset) -> npt.NDArray[np.intp]:
        """The classes that take part, labeled or not; here, all."""
        return np.unique(data.y)

    def labeled_classes(self, classes: int) -> int:
        """How many classes have labels, counted from the first; here, all."""
        return classes

    def chance(self, cell: Cell) -> Any:
        """What `pools` draws random numbers from.

        It does not depend on the environment, so that environments are compared on the same draws,
        nor on the number of labels, so that few labels are among many.
        """
        return cell.rng("dataset", "seed")

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
        order, seed = rng.integers(2**31, size=2).tolist()
        parts = self.parts(data, labels, rng)
        test, aside = (blend(rows, order)[: self.test] for rows in (parts.test, parts.aside))
        consistent, inconsistent = (blend(r, order) for r in (parts.consistent, parts.inconsistent))
        n = min(len(consistent), len(inconsistent), self.unlabeled or len(consistent))
        return Pools(
            data,
            labeled=np.concatenate([*parts.labeled.values()]),
            test=test,
            consistent=consistent[:n],
            inconsistent=inconsistent[:n],
            aside=aside,
            seed=seed,
        )

    def parts(self, data: Dataset, labels: int, rng: Any) -> Parts:
        """The rows of the pools, class by class."""
        classes = len(np.unique(data.y))
        parts = self.dealt(data, np.full(classes, labels), rng)
        return parts.paired(data) if self.paired else parts

    def dealt(self, data: Dataset, labels: npt.NDArray[np.intp], rng: Any) -> Parts:
        """All rows that count, dealt class by class; `labels` says how many a class has."""
        distinct, ids = data.without_copies
        near, far = (by_class(data, ids[rows]) for rows in self.divide(distinct, rng))
        dealt = {k: deal(data, rng.permutation(rows), labels[k]) for k, rows in near.items()}
        apart = {k: set_aside(rng.permutation(rows)) for k, rows in far.items()}
        test, labeled, consistent = ({k: part[i] for k, part in dealt.items()} for i in range(3))
        aside, inconsistent = ({k: part[i] for k, part in apart.items()} for i in range(2))
        return Parts(labeled, test, consistent, inconsistent or consistent, aside)

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
