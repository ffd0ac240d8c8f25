"""Co-training (Blum & Mitchell, 1998), on logistic regression."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from robustssl.classifier import Codes, EncodedClassifier, Matrix, to_rows
from robustssl.method import Preset
from robustssl.spec import Count, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class CoTraining(EncodedClassifier):
    """Two learners, each on half of the features (a random half). In each round, each learner
    labels for the other the unlabeled rows that it is surest of, `additions` of each class. The
    prediction is the product of their probabilities.
    """

    rounds: Count = 30
    additions: Count = 1
    C: Positive = 1.0
    random_state: int | None = None

    baseline = "supervised_logistic"
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Blum and Mitchell 1998, section 6", {})
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        order = check_random_state(self.random_state).permutation(X.shape[1])
        half = (X.shape[1] + 1) // 2
        views = order[:half], order[half:] if X.shape[1] > 1 else order
        known = [codes.copy(), codes.copy()]
        learners = [self._learner().fit(X[:, view], codes) for view in views]
        for _ in range(self.rounds):
            for me, other in ((0, 1), (1, 0)):
                free = np.flatnonzero(known[other] < 0)
                if len(free):
                    p = learners[me].predict_proba(X[np.ix_(free, views[me])])
                    for k in range(p.shape[1]):
                        mine = np.flatnonzero(p.argmax(1) == k)
                        surest = mine[np.argsort(-p[mine, k], kind="stable")[: self.additions]]
                        known[other][free[surest]] = k
            pairs = zip(views, known, strict=True)
            learners = [self._learner().fit(X[:, view], y) for view, y in pairs]
        return _Product(learners, views)

    def _learner(self) -> Any:
        return self._matched(self.baseline)


class _Product:
    """Two learners, each with its own features; p is the normalised product of theirs."""

    def __init__(self, learners: list[Any], views: tuple[Codes, ...]) -> None:
        self.learners, self.views = learners, views

    def predict_proba(self, X: Matrix) -> Matrix:
        pairs = zip(self.learners, self.views, strict=True)
        one, other = (m.predict_proba(X[:, view]) for m, view in pairs)
        return to_rows(np.maximum(one * other, 1e-300))
