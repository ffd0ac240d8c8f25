"""Kernel classifier (Nadaraya, 1964; Watson, 1964) on the labeled rows alone."""

from dataclasses import dataclass
from typing import Any, ClassVar

from robustssl.algorithms._votes import KernelVotes
from robustssl.classifier import Codes, Matrix, SupervisedClassifier, one_hot
from robustssl.method import Between, Space
from robustssl.spec import Positive


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedKernel(SupervisedClassifier):
    """p(x) of a class is proportional to the sum of exp(-gamma |x - x_i|^2) over its labeled rows:
    a graph method without unlabeled rows.
    """

    gamma: Positive = 1.0
    space: ClassVar[Space] = {"gamma": Between(0.01, 100.0, log=True)}

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        return KernelVotes(X, one_hot(codes), self.gamma)
