"""SADA, safe and adaptive aggregation (Shan et al., 2025, arXiv:2509.21707), on logistic
regression.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize, nnls
from scipy.special import logsumexp, softmax

from robustssl.algorithms._folds import held_out, without_a_fold
from robustssl.classifier import Codes, EncodedClassifier, Matrix, one_hot
from robustssl.method import Between, Preset, Space
from robustssl.spec import Positive


@dataclass(eq=False, repr=False, kw_only=True)
class SADA(EncodedClassifier):
    """Logistic regression on the labeled rows, made less noisy by the guesses of several methods:
    the loss is L(y) + sum_k w_k (U(q_k) - L(q_k)), where L and U are means over labeled and over
    unlabeled rows, y are the labels and q_k the guesses of method k. If unlabeled rows are
    consistent, no w biases the solution, and this w makes its variance least: w = (N - n) / N A^-1
    b. A holds the covariances of the scores of the guesses (a score is the gradient of the loss of
    a row), b their covariances with the scores of the labels; n of N rows have labels.

    The guesses are those of self-training, label spreading and a Gaussian mixture. That unlabeled
    rows do no harm holds for many labels: with more coefficients than labeled rows, the difference
    of U and L is fitted like noise (digits, 20 labels a class, t = 0: .929, the baseline .969).

    Departures: the authors are given predictions that do not depend on the labels, here a labeled
    row is predicted by methods that did not see its label, in five folds, and so are the scores
    computed, since few labels are fitted too well for a score to tell anything; they estimate a
    matrix of weights for each prediction, for which there are too few labeled rows, here each
    prediction has one weight, and the trace of the variance is least; weights are at least 0 and
    their sum at most 1, or the loss might have no minimum; the loss has the penalty of the
    baseline.
    """

    C: Positive = 1.0
    random_state: int | None = None

    baseline = "supervised_logistic"
    members: ClassVar[tuple[str, ...]] = ("self_training", "label_spreading", "ssgmm")
    targets: ClassVar[dict[str, str]] = {"consistent": "arXiv:2509.21707, abstract: never worse"}
    presets: ClassVar[dict[str, Preset]] = {"paper": Preset("jw-shan/sada: R/sada_ee.R", {})}
    space: ClassVar[Space] = {"C": Between(0.01, 100.0, log=True)}

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        labeled, y = codes >= 0, one_hot(codes, len(self.classes_))
        rows = np.hstack([X, np.ones((len(X), 1))])
        p = self._guesses(self.baseline, X, codes)
        guesses = np.stack([self._guesses(name, X, codes) for name in self.members])
        w = best_weights(rows[labeled], p[labeled], y[labeled], guesses[:, labeled])
        mixed = (~labeled).mean() * np.tensordot(w, guesses, 1)
        targets = np.where(labeled[:, None], y - mixed, mixed)
        means = np.where(labeled, 1 / labeled.sum(), 1 / (~labeled).sum())
        return _Linear(minimum(rows, means[:, None] * targets, self.C * labeled.sum()))

    def _guesses(self, name: str, X: Matrix, codes: Codes) -> Matrix:
        """Probabilities for all rows, by methods that have not seen a row's label."""
        parts, answers = without_a_fold(codes), []
        for part in parts:
            learner = self._matched(name).fit(X, part)
            answer = np.zeros((len(X), len(self.classes_)))
            answer[:, learner.classes_] = learner.predict_proba(X)
            answers.append(answer)
        return held_out(codes, parts, answers)


def minimum(rows: Matrix, targets: Matrix, strength: float) -> Matrix:
    """The coefficients, (features, classes), with the least strength times sum_i,c targets_ic (-log
    p_ic) + |coefficients|^2 / 2. The last feature is 1, and its coefficients are free. (With two
    classes, scikit-learn penalises the difference of their coefficients instead.)
    """
    shape, mass = (rows.shape[1], targets.shape[1]), targets.sum(1, keepdims=True)
    penalty = np.full((rows.shape[1], 1), 2.0 if targets.shape[1] == 2 else 1.0)
    penalty[-1] = 0

    def objective(flat: Matrix) -> tuple[float, Matrix]:
        B = flat.reshape(shape)
        z = rows @ B
        loss = float((mass[:, 0] * logsumexp(z, axis=1)).sum() - (targets * z).sum())
        slope = rows.T @ (mass * softmax(z, axis=1) - targets)
        size = float((penalty * B**2).sum()) / 2
        return strength * loss + size, (strength * slope + penalty * B).ravel()

    found = minimize(objective, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B")
    return np.asarray(found.x.reshape(shape))


def best_weights(rows: Matrix, p: Matrix, y: Matrix, guesses: Matrix) -> Matrix:
    """A^-1 b, where the score of a row with the target q is the product of p - q and the row; at
    least 0, and with a sum of at most 1.
    """
    residuals = np.concatenate([p - guesses, (p - y)[None]])
    scores = np.einsum("kic,if->kifc", residuals, rows).reshape(*residuals.shape[:2], -1)
    scores = scores - scores.mean(1, keepdims=True)
    covariance = np.einsum("kif,lif->kl", scores, scores)
    A, b = covariance[:-1, :-1], covariance[:-1, -1]
    root = np.linalg.cholesky(A + 1e-9 * max(np.trace(A), 1e-300) * np.eye(len(A)))
    w, _ = nnls(root.T, solve_triangular(root, b, lower=True))
    return np.asarray(w / max(1.0, w.sum()))


class _Linear:
    def __init__(self, coefficients: Matrix) -> None:
        self.coefficients = coefficients

    def predict_proba(self, X: Matrix) -> Matrix:
        z = X @ self.coefficients[:-1] + self.coefficients[-1]
        return np.asarray(softmax(z, axis=1))
