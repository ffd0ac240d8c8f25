"""A safe ensemble (SAFEW: Li, Guo & Zhou, 2019, Towards safe weakly supervised learning)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from robustssl.classifier import Codes, EncodedClassifier, Matrix
from robustssl.method import Between, Preset, Space
from robustssl.spec import Positive


@dataclass(eq=False, repr=False, kw_only=True)
class SafeEnsemble(EncodedClassifier):
    """argmax_p min_a sum_i a_i (|p_0 - p_i|^2 - |p - p_i|^2): of all mixtures of the guesses p_i of
    several learners on the unlabeled rows, the one that is closest to the guess p_0 of the
    baseline.

    Its squared error on these rows is at most that of the baseline if the truth is a mixture of the
    p_i. Other rows are predicted by the same mixture of the learners.

    Departures: the learners are three of this package, not the same learner on several graphs or
    samples; rows that were not in the training set are predicted, by the mixture.
    """

    C: Positive = 1.0

    baseline = "supervised_logistic"
    version = 2
    presets: ClassVar[dict[str, Preset]] = {"paper": Preset("Li, Guo and Zhou 2019, section 4", {})}
    members = ("self_training", "label_spreading", "ssgmm")
    targets: ClassVar[dict[str, str]] = {
        "consistent": "Li, Guo and Zhou 2019, abstract: not worse than the labeled rows alone"
    }
    space: ClassVar[Space] = {"C": Between(0.01, 100.0, log=True)}

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        free = X[codes < 0]
        first = self._matched(self.baseline).fit(X, codes).predict_proba(free)
        learners = [self._matched(name).fit(X, codes) for name in self.members]
        guesses = [learner.predict_proba(free) for learner in learners]
        return _Mixture(learners, nearest_mixture(first, guesses))


def nearest_mixture(p: Matrix, guesses: list[Matrix]) -> Matrix:
    """The shares a >= 0, with sum 1, for which sum_i a_i p_i is closest to p."""
    A = np.stack([guess.ravel() for guess in guesses], 1)
    Q, b = A.T @ A / len(A), A.T @ p.ravel() / len(A)
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - b @ a,
        np.full(len(b), 1 / len(b)),
        jac=lambda a: Q @ a - b,
        bounds=[(0, 1)] * len(b),
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    shares = np.maximum(found.x, 0)
    return np.asarray(shares / shares.sum())


class _Mixture:
    """The probabilities of several learners, mixed in fixed shares."""

    def __init__(self, learners: list[Any], shares: Matrix) -> None:
        self.learners, self.shares = learners, shares

    def predict_proba(self, X: Matrix) -> Matrix:
        return np.asarray(
            sum(a * m.predict_proba(X) for a, m in zip(self.shares, self.learners, strict=True))
        )
