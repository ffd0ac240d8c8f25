"""Quadratic discriminant analysis with shrunk covariances, on the labeled rows alone."""

from dataclasses import dataclass
from typing import Any, ClassVar

from robustssl.algorithms._gaussians import Covariance, Gaussians
from robustssl.classifier import Codes, Matrix, SupervisedClassifier, one_hot
from robustssl.method import Between, Space
from robustssl.spec import NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedGaussian(SupervisedClassifier):
    """argmax_k of n_k / n N(x | mean_k, covariance_k), from the labeled rows alone.

    covariance: full, diag (without correlations) or tied (the same for all classes).
    shrinkage: the weight, in rows per feature, of a prior that draws every covariance towards the
    pooled one, and the pooled one towards its diagonal.
    """

    covariance: Covariance = "full"
    shrinkage: NotNegative = 1.0
    space: ClassVar[Space] = {
        "covariance": ("full", "diag", "tied"),
        "shrinkage": Between(0.1, 10.0, log=True),
    }

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        return Gaussians.fit(X, one_hot(codes), self.covariance, self.shrinkage)
