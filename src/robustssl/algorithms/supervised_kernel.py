"""A kernel vote (Nadaraya, 1964; Watson, 1964) of the labeled rows alone."""

from dataclasses import dataclass
from typing import Any

from robustssl.algorithms._votes import KernelVotes
from robustssl.classifier import Codes, Matrix, SupervisedClassifier, one_hot
from robustssl.spec import Positive


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedKernel(SupervisedClassifier):
    """p(x) in proportion to the sum of exp(-gamma |x - x_i|^2) over the labeled rows of a class:
    what graph methods are without unlabeled rows.
    """

    gamma: Positive = 1.0

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        return KernelVotes(X, one_hot(codes), self.gamma)
