"""The feature space differs: features are missing in the unlabeled rows."""

from dataclasses import dataclass

import numpy as np

from robustssl.data import Dataset, Pools, Rows
from robustssl.environments import Environment, Matrix, count, deal


@dataclass(frozen=True)
class Feature(Environment):
    """t: share of features missing in every unlabeled row, replaced by the mean of the labeled
    rows.
    """

    def pools(self, data: Dataset, labels: int, rng: np.random.Generator) -> Pools:
        classes = np.unique(data.y)
        dealt = [deal(data, np.flatnonzero(data.y == label), labels, rng) for label in classes]
        labeled, test, consistent = map(np.concatenate, zip(*dealt, strict=True))
        columns = rng.permutation(data.X.shape[1])
        nothing = np.empty(0, np.intp)
        return Pools(data, labeled, test, consistent, nothing, nothing, columns)

    def unlabeled(self, pools: Pools, t: float) -> tuple[Matrix, Rows]:
        X = pools.data.X[pools.consistent]
        lost = pools.columns[: count(t, len(pools.columns))]
        X[:, lost] = pools.data.X[np.ix_(pools.labeled, lost)].mean(0)
        return X, pools.consistent
