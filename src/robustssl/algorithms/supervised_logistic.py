"""Multinomial logistic regression on the labeled rows alone (scikit-learn)."""

from typing import Any

from sklearn.linear_model import LogisticRegression

from robustssl.algorithms._encoded import Codes, Matrix, SupervisedClassifier


class SupervisedLogistic(SupervisedClassifier):
    """Logistic regression on the labeled rows alone."""

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        return LogisticRegression(C=self.C, max_iter=1000).fit(X, codes)
