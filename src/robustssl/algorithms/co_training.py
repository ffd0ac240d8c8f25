"""Co-training (Blum & Mitchell, 1998, COLT), on logistic regression."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from robustssl.classifier import Codes, EncodedClassifier, Matrix, to_rows
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class CoTraining(EncodedClassifier):
    """Two learners, each on half of the features, share one set of labeled rows. In each round both
    label rows of a small pool of unlabeled ones: each the rows that it is surest of, `additions` of
    each class. These join the labeled set, and rows drawn at random fill up the pool. The
    prediction is the product of their probabilities.

    pool: the number of rows from which a round chooses. Without it the rows that join would be
    those farthest from the boundary, which do not represent their class. Half of the features must
    suffice to tell the classes apart: it does on digits as a table (20 labels a class, t = 0: .966,
    the baseline .969), not on their principal components, as images (.737 and .965).

    Departures: the learners are logistic regressions, as the baseline is, not naive Bayes; the two
    halves of the features are drawn at random, since a dataset here does not come in two views; the
    authors add 1 positive and 3 negative rows, in the ratio of their two classes, here it is the
    same number of each class; of a row that both learners would label, the first learner's label is
    taken, which the paper leaves open.
    """

    rounds: Count = 30
    additions: Count = 1
    pool: Count = 75
    C: Positive = 1.0
    random_state: int | None = None

    version = 2
    baseline = "supervised_logistic"
    collapses: ClassVar[dict[str, str]] = {
        "blobs": "-.001, perhaps -.014 (20 seeds): each learner sees half of the features alone"
    }
    presets: ClassVar = {"paper": Preset("Blum and Mitchell, 1998, section 6: k = 30, u = 75", {})}
    space: ClassVar[Space] = {
        "rounds": Between(5, 60, log=True),
        "additions": Between(1, 5),
        "C": Between(0.01, 100.0, log=True),
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        chance = check_random_state(self.random_state)
        order = chance.permutation(X.shape[1])
        half = (X.shape[1] + 1) // 2
        views = order[:half], order[half:] if X.shape[1] > 1 else order
        known = codes.copy()
        waiting = chance.permutation(np.flatnonzero(codes < 0))  # the pool is its beginning
        for _ in range(self.rounds):
            learners = [self._matched(self.baseline).fit(X[:, view], known) for view in views]
            for learner, view in zip(learners, views, strict=True):
                pool = waiting[: self.pool]
                pool = pool[known[pool] < 0]
                if len(pool):
                    p = learner.predict_proba(X[np.ix_(pool, view)])
                    for k in range(p.shape[1]):
                        mine = np.flatnonzero(p.argmax(1) == k)
                        surest = mine[np.argsort(-p[mine, k], kind="stable")[: self.additions]]
                        known[pool[surest]] = k
            waiting = waiting[known[waiting] < 0]
        learners = [self._matched(self.baseline).fit(X[:, view], known) for view in views]
        return _Product(learners, views)


class _Product:
    """Two learners, each with its own features; p is the normalised product of theirs."""

    def __init__(self, learners: list[Any], views: tuple[Codes, ...]) -> None:
        self.learners, self.views = learners, views

    def predict_proba(self, X: Matrix) -> Matrix:
        pairs = zip(self.learners, self.views, strict=True)
        one, other = (m.predict_proba(X[:, view]) for m, view in pairs)
        return to_rows(np.maximum(one * other, 1e-300))
