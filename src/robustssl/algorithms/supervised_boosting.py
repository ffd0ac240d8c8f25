"""AdaBoost for several classes (SAMME: Zhu et al., 2009) on the labeled rows alone."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from robustssl.algorithms._boosting import Base, boost
from robustssl.classifier import Codes, Matrix, SupervisedClassifier
from robustssl.method import Between, Space
from robustssl.spec import Count


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedBoosting(SupervisedClassifier):
    """Boosting as in assemble, on the labeled rows alone. base: tree or svm."""

    base: Base = "tree"
    rounds: Count = 30
    random_state: int | None = None
    space: ClassVar[Space] = {"rounds": Between(10, 300, log=True)}

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        return boost(
            X,
            codes.copy(),
            np.full(len(X), 1 / len(X)),
            np.arange(0),
            base=self.base,
            rounds=self.rounds,
            rng=check_random_state(self.random_state),
        )
