"""Multinomial logistic regression on the labeled rows alone (scikit-learn)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.linear_model import LogisticRegression

from robustssl.classifier import Codes, Matrix, SupervisedClassifier
from robustssl.method import Between, Space
from robustssl.spec import Positive


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedLogistic(SupervisedClassifier):
    """Logistic regression on the labeled rows alone."""

    C: Positive = 1.0
    space: ClassVar[Space] = {"C": Between(0.01, 100.0, log=True)}

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        return LogisticRegression(C=self.C, max_iter=1000).fit(X, codes)
