"""CAST, cluster-aware self-training (Kim et al., 2023, arXiv:2310.06380), on XGBoost."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import minmax_scale

from robustssl.classifier import Codes, EncodedClassifier, Matrix
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class CAST(EncodedClassifier):
    """Self-training in which the score of a guess is p_k(u) d_k(u)^alpha: its probability, times
    the density of the labeled rows of class k at u (a kernel estimate, scaled to [0, 1] over all
    rows). A share of the guesses, those with the highest scores, are labels in the next round,
    which starts from scratch; the share grows by 1 / rounds in each round, up to all.

    Departures: alpha is 1, since the authors search it for each dataset; the learner is XGBoost
    with its own defaults.
    """

    alpha: NotNegative = 1.0
    rounds: Count = 5
    n_estimators: Count = 100
    max_depth: Count = 6
    learning_rate: Positive = 0.3
    random_state: int | None = None

    baseline = "supervised_xgboost"
    version = 2
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("arXiv:2310.06380, section 4: curriculum pseudo-labeling", {})
    }
    space: ClassVar[Space] = {
        "alpha": Between(0.1, 10.0, log=True),
        "max_depth": Between(2, 8),
        "learning_rate": Between(0.03, 0.5, log=True),
        "n_estimators": Between(30, 200, log=True),
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        labeled, y = codes >= 0, codes.copy()
        trust = density(X, codes)[~labeled] ** self.alpha
        model = self._matched(self.baseline).fit(X, codes)
        for done in range(1, self.rounds + 1):
            scores = model.predict_proba(X[~labeled]) * trust
            best, guesses = scores.max(1), scores.argmax(1)
            taken = best >= np.quantile(best, 1 - done / self.rounds)
            y[~labeled] = np.where(taken, guesses, -1)
            model = self._matched(self.baseline).fit(X, y)
        return model


def density(X: Matrix, codes: Codes) -> Matrix:
    """(n, K): the density of the labeled rows of each class at every row, scaled to [0, 1]."""
    columns = []
    for k in range(codes.max() + 1):
        log = KernelDensity(bandwidth="scott").fit(X[codes == k]).score_samples(X)
        columns.append(minmax_scale(np.exp(log - log.max())))
    return np.stack(columns, 1)
