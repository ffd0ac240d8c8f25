"""Inductive prediction of graph methods, with an answer everywhere."""

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted, validate_data


class KernelVote:
    """p(x) in proportion to the sum over training points i of exp(-gamma |x - x_i|^2) F_i.

    Far from every point all weights underflow, and scikit-learn returns nan and then its first
    class. Here the weights are scaled by the largest one, which changes nothing in the ratio: far
    away, the nearest training point that any label has reached decides.
    """

    X_: npt.NDArray[np.float64]
    label_distributions_: npt.NDArray[np.float64]
    gamma: float

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        reached = self.label_distributions_.sum(1) > 0
        exponent = pairwise_distances(X, self.X_[reached], metric="sqeuclidean") * -self.gamma
        weights = np.exp(exponent - exponent.max(1, keepdims=True))
        votes = weights @ self.label_distributions_[reached]
        return np.asarray(votes / votes.sum(1, keepdims=True))
