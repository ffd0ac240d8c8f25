"""Support vector machines (Cortes & Vapnik, 1995) on the labeled rows alone."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from robustssl.algorithms._svm import machine, machines, scale, targets
from robustssl.classifier import Codes, Matrix, SupervisedClassifier
from robustssl.method import Between, Space
from robustssl.spec import NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedSVM(SupervisedClassifier):
    """Each class against all others, with the kernel exp(-gamma |x - x'|^2), on the labeled rows
    alone.

    gamma: null is 1 / (number of features * variance of X).
    """

    C: Positive = 15.0
    gamma: Positive | None = None
    tol: NotNegative = 1e-3
    space: ClassVar[Space] = {
        "C": Between(0.1, 100.0, log=True),
        "gamma": Between(0.0001, 1.0, log=True),
    }

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        gamma = scale(X) if self.gamma is None else self.gamma
        kernel, weights = rbf_kernel(X, gamma=gamma), np.full(len(X), self.C)
        fitted = [machine(kernel, signs, weights, self.tol) for signs in targets(codes)]
        return machines(X, fitted, gamma)
