"""The data distribution differs: unlabeled rows come from far away from their class's centre."""

from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler

from robustssl.data import Dataset, Pools
from robustssl.environments import Environment, deal, set_aside


@dataclass(frozen=True)
class Distribution(Environment):
    """t: share of unlabeled rows from the target, the half of each class that is far from its
    centre.

    Distances are taken on standardised features. Consistent and inconsistent rows are paired by
    class, so that the classes keep their shares at every t.
    """

    def pools(self, data: Dataset, labels: int, rng: np.random.Generator) -> Pools:
        Z = StandardScaler().fit_transform(data.X)
        parts = []
        for label in np.unique(data.y):
            rows = np.flatnonzero(data.y == label)
            distance = np.linalg.norm(Z[rows] - Z[rows].mean(0), axis=1)
            source, target = np.split(
                rows[np.argsort(distance, kind="stable")], [(len(rows) + 1) // 2]
            )
            labeled, test, consistent = deal(data, source, labels, rng)
            aside, inconsistent = set_aside(rng.permutation(target))
            n = min(len(consistent), len(inconsistent))
            parts.append((labeled, test, consistent[:n], inconsistent[:n], aside))
        labeled, test, consistent, inconsistent, aside = map(
            np.concatenate, zip(*parts, strict=True)
        )
        order = rng.permutation(len(consistent))
        return Pools(data, labeled, test, consistent[order], inconsistent[order], aside)
