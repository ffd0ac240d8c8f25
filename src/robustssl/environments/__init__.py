"""Open environments: how unlabeled data come to differ from labeled data as t grows.

One environment a file. Everything random happens in `pools`, which cannot see t; so labeled and
test rows are the same at every t, and from one t to the next unlabeled rows are only replaced.
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
    """How many of n are inconsistent at t."""
    return math.ceil(t * n - 1e-9)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The `controlled` protocol. A subclass divides the rows and, maybe, degrades some.

    mix: inconsistent rows replace consistent ones, or are added to them. access: what a learner
    gets; `consistent` is an oracle without the inconsistent rows, `labels` a ceiling with the
    labels of the unlabeled rows. test, unlabeled: at most so many rows, drawn before t (with
    mix=add, so many consistent ones and as many inconsistent ones); of `test`, so many are set
    aside too, at most.
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

    def known(self, classes: int) -> int:
        """How many of the classes have labels: the first of them; here, all."""
        return classes

    def chance(self, cell: Cell) -> Any:
        """What `pools` draws from.

        Not from the environment either, so that environments are compared in pairs too.
        """
        return cell.rng("dataset", "labels", "seed")

    def divide(self, data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """The consistent and the inconsistent rows; none of the latter: they are the former,
        degraded.
        """
        raise NotImplementedError

    def degrade(self, pools: Pools, rows: Rows) -> Matrix:
        """What is left of inconsistent rows, the same at every t; here, all."""
        return np.asarray(pools.data.X[rows])

    def pools(self, data: Dataset, labels: int, rng: Any) -> Pools:
        """Disjoint rows: labeled, test, consistent, inconsistent, set aside. Cannot see t."""
        clean, dirty = (_by_class(data, rows) for rows in self.divide(data, rng))
        dealt = [deal(data, rows, labels, rng) for rows in clean]
        labeled, test, consistent = (list(part) for part in zip(*dealt, strict=True))
        apart = [set_aside(rng.permutation(rows)) for rows in dirty]
        inconsistent = [rows for _, rows in apart] or consistent
        if self.paired:
            sizes = [min(map(len, pair)) for pair in zip(consistent, inconsistent, strict=True)]
            consistent = [rows[:n] for rows, n in zip(consistent, sizes, strict=True)]
            inconsistent = [rows[:n] for rows, n in zip(inconsistent, sizes, strict=True)]
        order, seed = rng.integers(2**31, size=2).tolist()
        good, bad = blend(consistent, order), blend(inconsistent, order)
        n = min(len(good), len(bad), self.unlabeled or len(good))
        return Pools(
            data,
            labeled=np.concatenate(labeled),
            test=blend(test, order)[: self.test],
            consistent=good[:n],
            inconsistent=bad[:n],
            aside=blend([np.empty(0, np.intp), *(rows for rows, _ in apart)], order)[: self.test],
            seed=seed,
        )

    def seen(self, pools: Pools, t: float) -> tuple[Matrix, Rows]:
        """The unlabeled rows at t: the first ceil(t n) inconsistent ones, and consistent ones."""
        k = count(t, len(pools.inconsistent))
        kept = pools.consistent[k:] if self.mix == "replace" else pools.consistent
        bad = pools.inconsistent[: 0 if self.access == "consistent" else k]
        X = np.concatenate([self.degrade(pools, bad), pools.data.X[kept]])
        return X, np.concatenate([bad, kept])

    def split(self, pools: Pools, t: float) -> Split:
        """The split at t. The truth about unlabeled rows stays behind, but for the ceiling.

        It gets the labels of the known classes; rows of others it cannot use, and does without.
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
    """Consistent rows of one class: the labeled ones; of the others half to test, half to the
    pool.
    """
    if len(rows) < labels + 2:
        raise InputError(
            f"{labels} labels per class are too many for {data.name}: class "
            f"{data.class_name(data.y[rows[0]])} has {len(rows)} "
            f"consistent rows, and {labels + 2} are needed to leave one for the test "
            "set and one without a label"
        )
    rows = rng.permutation(rows)
    middle = labels + (len(rows) - labels) // 2
    return rows[:labels], rows[labels:middle], rows[middle:]


def set_aside(rows: Rows) -> tuple[Rows, Rows]:
    """A fifth of the inconsistent rows, for detection, and the others."""
    fifth = len(rows) // 5
    return rows[:fifth], rows[fifth:]


def blend(parts: Sequence[Rows], seed: int) -> Rows:
    """The parts as one sequence of which every stretch holds their shares, within chance.

    The place of a row depends on the seed and on the sizes alone: parts of the same sizes blend
    alike.
    """
    rng = np.random.default_rng(seed)
    places = [(np.arange(len(rows)) + rng.random(len(rows))) / max(len(rows), 1) for rows in parts]
    blended: Rows = np.concatenate(parts)[np.argsort(np.concatenate(places), kind="stable")]
    return blended


def _by_class(data: Dataset, rows: Rows) -> list[Rows]:
    return [rows[data.y[rows] == label] for label in np.unique(data.y[rows])]
