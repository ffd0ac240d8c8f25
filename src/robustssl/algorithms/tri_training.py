"""Tri-Training (Zhou & Li, 2005)."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from robustssl import registry
from robustssl.classifier import Codes, EncodedClassifier, Matrix, one_hot
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, Positive, Range


@dataclass(eq=False, repr=False, kw_only=True)
class TriTraining(EncodedClassifier):
    """Three learners, each started on a bootstrap sample of the labeled rows. Where two agree on an
    unlabeled row, the third learns their answer, as long as a bound on its error falls: e |L| < e'
    l', where e is the error of the two on the labeled rows on which they agree, |L| the number of
    unlabeled rows on which they agree, and e', l' are those of the previous round. The majority
    predicts.

    svms: how many of the three are support vector machines (C = 1, gamma = 1 / number of features);
    the others are XGBoost.

    Departures: the learners are XGBoost, not C4.5 trees; bootstrap samples are drawn within
    classes, so that none is without a class; at most `rounds` rounds.
    """

    svms: Annotated[int, Range(least=0, most=3)] = 0
    n_estimators: Count = 100
    max_depth: Count = 6
    learning_rate: Positive = 0.3
    rounds: Count = 10
    random_state: int | None = None

    baseline = "supervised_xgboost"
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Zhou and Li 2005, figure 1", {}),
        "reference": Preset("YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/Tri_Training.py", {"svms": 2}),
    }
    space: ClassVar[Space] = {
        "n_estimators": Between(30, 200, log=True),
        "max_depth": Between(2, 8),
        "learning_rate": Between(0.03, 0.5, log=True),
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        rng = check_random_state(self.random_state)
        labeled = codes >= 0
        L, y, U = X[labeled], codes[labeled], X[~labeled]
        samples = [bootstrap(y, rng) for _ in range(3)]
        learners = [self._learner(i).fit(L[rows], y[rows]) for i, rows in enumerate(samples)]
        error, size = [0.5] * 3, [0] * 3
        for _ in range(self.rounds):
            on_L, on_U = ([m.predict(rows) for m in learners] for rows in (L, U))
            lessons: dict[int, Codes] = {}
            for i, (j, k) in enumerate(((1, 2), (0, 2), (0, 1))):
                agree = on_L[j] == on_L[k]
                e = np.mean(on_L[j][agree] != y[agree]) if agree.any() else 1.0
                taught = choose(np.flatnonzero(on_U[j] == on_U[k]), e, error[i], size[i], rng)
                if len(taught):
                    lessons[i], error[i], size[i] = taught, e, len(taught)
            for i, rows in lessons.items():
                guesses = on_U[(i + 1) % 3][rows]
                learners[i] = self._learner(i).fit(np.vstack([L, U[rows]]), np.hstack([y, guesses]))
            if not lessons:
                break
        return _Majority(learners, len(self.classes_))

    def _learner(self, i: int) -> Any:
        if i < 3 - self.svms:
            return self._matched(self.baseline)
        return registry.estimator("supervised_svm", C=1.0, gamma=1 / self.n_features_in_)


def choose(agreed: Codes, e: float, last: float, size: int, rng: Any) -> Codes:
    """The rows to learn from: all on which the other two agree, some of them, or none."""
    if e >= last or not len(agreed):
        return agreed[:0]
    if size == 0:
        size = math.floor(e / (last - e) + 1)
    if size >= len(agreed):
        return agreed[:0]
    if e * len(agreed) < last * size:
        return agreed
    if size > e / (last - e):
        return np.asarray(rng.choice(agreed, math.ceil(last * size / e - 1), replace=False))
    return agreed[:0]


def bootstrap(y: Codes, rng: Any) -> Codes:
    """Rows drawn with replacement within each class, so that no class is missing."""
    return np.concatenate(
        [rng.choice(np.flatnonzero(y == k), np.sum(y == k)) for k in np.unique(y)]
    )


class _Majority:
    """The class that most learners predict. p is the mean of their votes and of their
    probabilities: the latter decide where there is no majority, and cannot overrule one.
    """

    def __init__(self, learners: list[Any], classes: int) -> None:
        self.learners, self.classes = learners, classes

    def predict_proba(self, X: Matrix) -> Matrix:
        p = np.mean([m.predict_proba(X) for m in self.learners], axis=0)
        votes = np.mean([one_hot(m.predict(X), self.classes) for m in self.learners], axis=0)
        return np.asarray((p + votes) / 2)
