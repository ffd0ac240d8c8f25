"""Support vector machines for each class against all others, on one kernel."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from robustssl.classifier import Codes, Matrix


@dataclass(frozen=True)
class Machines:
    """Margins f_k(x) = sum_i coef_ik exp(-gamma |x - x_i|^2) + offset_k; p is their softmax."""

    X: Matrix
    coef: Matrix  # (n, K)
    offsets: Matrix  # (K,)
    gamma: float

    def predict_proba(self, X: Matrix) -> Matrix:
        support = self.coef.any(1)
        margins = rbf_kernel(X, self.X[support], gamma=self.gamma) @ self.coef[support]
        return np.asarray(softmax(margins + self.offsets, axis=1))


def scale(X: Matrix) -> float:
    """scikit-learn's gamma='scale'."""
    return float(1 / (X.shape[1] * X.var())) if X.var() > 0 else 1.0


def targets(codes: Codes) -> Matrix:
    """(K, n): 1 for the rows of a class and -1 for others; of two classes, the second only."""
    classes = np.arange(codes.max() + 1)
    return np.where(codes == (classes if len(classes) > 2 else classes[1:])[:, None], 1.0, -1.0)


def machine(kernel: Matrix, signs: Matrix, C: Matrix, tol: float) -> tuple[Matrix, float]:
    """The coefficients and the offset of the machine that separates the signs; C has a value for
    each row.
    """
    svc = SVC(kernel="precomputed", C=1.0, tol=tol).fit(kernel, signs, sample_weight=C)
    coef = np.zeros(len(signs))
    coef[svc.support_] = svc.dual_coef_[0]
    return coef, float(svc.intercept_[0])


def machines(X: Matrix, fitted: list[tuple[Matrix, float]], gamma: float) -> Machines:
    """The machines of all classes; of two classes, one machine serves both."""
    coef, offsets = np.stack([c for c, _ in fitted], 1), np.array([b for _, b in fitted])
    if len(fitted) == 1:
        coef, offsets = np.hstack([-coef, coef]), np.hstack([-offsets, offsets])
    return Machines(X, coef, offsets, gamma)
