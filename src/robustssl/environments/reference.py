"""The splits of the published benchmark (Jia et al., ICLR 2024), row for row.

Only for comparing our numbers with the published ones; it is not our protocol. At t = 0 unlabeled
rows include test rows; a larger t also removes consistent rows and changes the number of unlabeled
rows; and unlabeled rows are standardised separately from the labeled ones.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from robustssl.cell import Cell
from robustssl.data import Dataset, Pools, Rows, Split
from robustssl.environments import Environment, Matrix
from robustssl.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Reference(Environment):
    """The splits of the published benchmark. kind: distribution, label or feature."""

    kind: Literal["distribution", "label", "feature"] = "distribution"

    version = 2  # the splits of the published benchmark do not change with ours
    scales = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.mix, self.access, self.test, self.unlabeled) != ("replace", "all", None, None):
            raise InputError("the reference environment has no option but kind")

    def labeled_classes(self, classes: int) -> int:
        return (classes + 1) // 2 if self.kind == "label" else classes

    def chance(self, cell: Cell) -> int:
        """The seed itself: as in the published code, every draw starts from it again."""
        return cell.seed

    def pools(self, data: Dataset, labels: int, rng: int) -> Pools:
        """`consistent` is their source, including labeled and test rows; `inconsistent` is their
        target.
        """
        if data.kind != "tabular":
            raise InputError(
                f"the reference environment is for tabular data; {data.name} is {data.kind}"
            )
        if self.kind == "distribution":
            source, target = _near_and_far(data)
        else:
            every = np.arange(len(data.y))
            source, target = _cut(data, every, math.ceil(len(every) / 2), rng)
        if self.kind == "label":
            source = source[_known(data, source)]
        total = labels * len(np.unique(data.y[source]))
        if total >= len(source):
            raise InputError(f"{labels} labels per class leave no test rows of {data.name}")
        labeled, test = _cut(data, source, total, rng)
        return Pools(data, labeled, test, source, target, target[:0], seed=rng)

    def seen(self, pools: Pools, t: float) -> tuple[Matrix, Rows]:
        data = pools.data
        if self.kind == "distribution":
            parts = [self._band(pools, label, t) for label in np.unique(data.y)]
            rows = np.concatenate(parts)
            return data.X[rows], rows
        if self.kind == "label":
            rows = self._mixture(pools, t)
            return data.X[rows], rows
        X, d = data.X[pools.inconsistent], data.X.shape[1]
        lost = np.random.RandomState(pools.seed).permutation(d)[: math.ceil(t * d)]
        X[:, lost] = data.X[np.ix_(pools.labeled, lost)].mean(0)
        return X, pools.inconsistent

    def _band(self, pools: Pools, label: int, t: float) -> Rows:
        """A fifth of a class's far half, farther out for larger t; at t = 0 as many near rows."""
        y = pools.data.y
        near: Rows = pools.consistent[y[pools.consistent] == label]
        far: Rows = pools.inconsistent[y[pools.inconsistent] == label]
        if t == 0:
            order = np.random.RandomState(pools.seed).permutation(len(near))
            return near[order[: math.ceil(0.2 * len(far))]]
        # As in their code: 0.8 - 0.2 is slightly more than 0.6, which changes the ceiling.
        return far[max(math.ceil(len(far) * (t - 0.2)), 0) : math.ceil(len(far) * t)]

    def _mixture(self, pools: Pools, t: float) -> Rows:
        known = _known(pools.data, pools.inconsistent)
        inside, outside = pools.inconsistent[known], pools.inconsistent[~known]
        shares = ((len(inside), 1 - t), (len(outside), t))
        n = min(size / share for size, share in shares if share > 0)
        kept, _ = _cut(pools.data, inside, int(n * (1 - t)), pools.seed)
        added, _ = _cut(pools.data, outside, int(n * t), pools.seed)
        return np.concatenate([kept, added])

    def split(self, pools: Pools, t: float) -> Split:
        split = super().split(pools, t)
        labeled = len(pools.labeled)
        scaler = StandardScaler().fit(split.X[:labeled])
        X = [scaler.transform(split.X[:labeled]), StandardScaler().fit_transform(split.X[labeled:])]
        return replace(split, X=np.concatenate(X), X_test=scaler.transform(split.X_test))


def _known(data: Dataset, rows: Rows) -> npt.NDArray[np.bool_]:
    return np.asarray(data.y[rows] < len(np.unique(data.y)) / 2)


def _near_and_far(data: Dataset) -> tuple[Rows, Rows]:
    near, far = [], []
    for label in np.unique(data.y):
        rows = np.flatnonzero(data.y == label)
        distance = np.linalg.norm(data.X[rows] - data.X[rows].mean(0), axis=1)
        half = math.ceil(len(rows) / 2)
        rows = rows[np.argsort(distance)]
        near.append(rows[:half])
        far.append(rows[half:])
    return np.concatenate(near), np.concatenate(far)


def _cut(data: Dataset, rows: Rows, n: int, seed: int) -> tuple[Rows, Rows]:
    """n of the rows, stratified by class, and the others; nothing is drawn if n is none or all of
    them.
    """
    if n in (0, len(rows)):
        return rows[:n], rows[n:]
    try:
        first, second = train_test_split(
            rows, train_size=n, test_size=len(rows) - n, stratify=data.y[rows], random_state=seed
        )
    except ValueError as error:
        raise InputError(
            f"the reference environment cannot draw {n} of {len(rows)} rows: {error}"
        ) from error
    return first, second
