"""Multinomial logistic regression on the labeled rows alone (scikit-learn)."""

from typing import Any

from sklearn.linear_model import LogisticRegression

from robustssl.algorithms._encoded import SupervisedClassifier


class SupervisedLogistic(SupervisedClassifier):
    """Logistic regression on the labeled rows alone."""

    def __init__(self, *, C: float = 1.0, max_iter: int = 1000) -> None:
        self.C = C
        self.max_iter = max_iter

    def _model(self) -> Any:
        return LogisticRegression(C=self.C, max_iter=self.max_iter)
