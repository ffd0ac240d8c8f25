"""Boosting in which the ensemble itself labels the rows that have no label."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import softmax
from sklearn.tree import DecisionTreeClassifier

from robustssl import registry
from robustssl.classifier import Codes, Matrix, one_hot

Base = Literal["tree", "svm"]


@dataclass(frozen=True)
class Votes:
    """p(x) = softmax(2 F(x)), where F is the sum of the weighted votes of the learners."""

    learned: list[tuple[float, Any]]
    classes: int

    def predict_proba(self, X: Matrix) -> Matrix:
        F = np.zeros((len(X), self.classes))
        for weight, learner in self.learned:
            F += weight * one_hot(learner.predict(X), self.classes)
        return np.asarray(softmax(2 * F, axis=1))


def boost(
    X: Matrix, y: Codes, D: Matrix, free: Codes, *, base: Base, rounds: int, rng: Any
) -> Votes:
    """In each round a learner f fits the rows with weights D. With e the total weight of the rows
    it gets wrong, F <- F + w f with w = (log((1 - e) / e) + log(K - 1)) / 2. Then the rows in
    `free` take the label of F, and D becomes proportional to exp(-(F_y - max of F over the other
    classes)).
    """
    classes, every = int(y.max()) + 1, np.arange(len(X))
    F, learned = np.zeros((len(X), classes)), list[tuple[float, Any]]()
    for _ in range(rounds):
        if base == "tree":
            learner = DecisionTreeClassifier(
                max_features="sqrt", min_weight_fraction_leaf=0.005, random_state=rng
            )
            learner.fit(X, y, sample_weight=D)
        else:
            rows = rng.choice(every, len(X) - len(free), p=D)
            learner = registry.estimator("supervised_svm", C=1.0, gamma=1 / X.shape[1])
            learner.fit(X[rows], y[rows])
        guesses = learner.predict(X)
        e = max(D[guesses != y].sum(), 1e-10)
        if learned and e >= 1 - 1 / classes:
            break  # no better than chance
        weight = max((np.log((1 - e) / e) + np.log(classes - 1)) / 2, 1e-6)
        learned.append((weight, learner))
        F += weight * one_hot(guesses, classes)
        y[free] = F[free].argmax(1)
        others = np.where(one_hot(y, classes) > 0, -np.inf, F)
        D = softmax(-(F[every, y] - others.max(1)))
    return Votes(learned, classes)
