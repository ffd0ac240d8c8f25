"""ASSEMBLE.AdaBoost (Bennett, Demiriz & Maclin, 2002)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from robustssl import registry
from robustssl.algorithms._encoded import Codes, EncodedClassifier, Matrix, one_hot
from robustssl.errors import unknown

BASES = ("tree", "svm")


@dataclass(eq=False, repr=False, kw_only=True)
class Assemble(EncodedClassifier):
    """Boosting on labeled and unlabeled rows, where the ensemble F itself labels the latter.

    Unlabeled rows begin with the label of their nearest neighbours. Each round a learner f fits
    all rows with the weights D; with e the weight it gets wrong, F <- F + w f,
    w = (log((1 - e) / e) + log(K - 1)) / 2, unlabeled rows take the label of F, and D is in
    proportion to exp(-(F_y - max of the others)). Of two classes that is the authors' rule; of
    more, that of SAMME (Zhu et al., 2009).

    base: a decision tree that looks at some features at each node; or a support vector machine, on
    as many rows as have labels, drawn by D (the authors drew trees' rows too; with few labels such
    trees are poor).
    """

    base: str = "tree"
    rounds: int = 30
    beta: float = 0.9
    neighbors: int = 3
    random_state: int | None = None

    baseline = "supervised_xgboost"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"neighbors": 1},
        "reference": {"base": "svm", "rounds": 30, "neighbors": 3},
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        if self.base not in BASES:
            raise unknown("base", self.base, BASES)
        rng = check_random_state(self.random_state)
        labeled, y, classes = codes >= 0, codes.copy(), len(self.classes_)
        nearest = KNeighborsClassifier(min(self.neighbors, labeled.sum()))
        y[~labeled] = nearest.fit(X[labeled], y[labeled]).predict(X[~labeled])
        D = np.where(labeled, self.beta / labeled.sum(), (1 - self.beta) / (~labeled).sum())
        F, every = np.zeros((len(X), classes)), np.arange(len(X))
        learned: list[tuple[float, Any]] = []
        for _ in range(self.rounds):
            if self.base == "tree":
                learner = DecisionTreeClassifier(max_features="sqrt", random_state=rng)
                learner.fit(X, y, sample_weight=D)
            else:
                rows = rng.choice(every, labeled.sum(), p=D)
                learner = registry.estimator("supervised_svm", C=1.0, gamma=1 / X.shape[1])
                learner.fit(X[rows], y[rows])
            guesses = learner.predict(X)
            e = max(D[guesses != y].sum(), 1e-10)
            if learned and e >= 1 - 1 / classes:
                break  # no better than chance
            weight = max((np.log((1 - e) / e) + np.log(classes - 1)) / 2, 1e-6)
            learned.append((weight, learner))
            F += weight * one_hot(guesses, classes)
            y[~labeled] = F[~labeled].argmax(1)
            others = np.where(one_hot(y, classes) > 0, -np.inf, F)
            D = softmax(-(F[every, y] - others.max(1)))
        return _Weighted(learned, classes)


class _Weighted:
    """p(x): softmax of 2 F(x), F the weighted votes of the learners."""

    def __init__(self, learned: list[tuple[float, Any]], classes: int) -> None:
        self.learned, self.classes = learned, classes

    def predict_proba(self, X: Matrix) -> Matrix:
        F = np.zeros((len(X), self.classes))
        for weight, learner in self.learned:
            F += weight * one_hot(learner.predict(X), self.classes)
        return np.asarray(softmax(2 * F, axis=1))
