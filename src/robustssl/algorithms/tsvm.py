"""Transductive support vector machine (Joachims, 1999)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sklearn
from sklearn.metrics.pairwise import rbf_kernel

from robustssl.algorithms._svm import machine, machines, scale, targets
from robustssl.classifier import Codes, EncodedClassifier, Matrix
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class TSVM(EncodedClassifier):
    """min over w, b and the signs of the unlabeled rows of |w|^2 / 2 + C sum_l slack + C_u sum_u
    slack, for each class against all others.

    The unlabeled rows with the largest margins are guessed to be positive, as large a share as
    among the labeled rows, and this share stays. Then the cost of unlabeled rows doubles from C_u
    up to C; that of positive guesses starts lower, by the ratio of positive to negative ones. At
    each level, pairs of opposite guesses whose slacks sum to more than 2 swap their signs, until
    there are none, at most `max_switches` times.

    Departures: all such pairs swap at once (Sindhwani & Keerthi, 2006), at most `max_switches`
    times; the last level is C; one class against all others where there are more than two; C is
    that of the published benchmark, since the author leaves it to the user.
    """

    C: Positive = 15.0
    C_u: Positive = 1e-5
    gamma: Positive | None = None
    max_switches: Count = 10
    tol: NotNegative = 1e-3

    baseline = "supervised_svm"
    version = 2
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Joachims 1999, figure 2", {}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/TSVM.py", {"C": 15.0, "C_u": 1e-4, "tol": 1e-3}
        ),
    }
    space: ClassVar[Space] = {
        "C": Between(0.1, 100.0, log=True),
        "C_u": Between(1e-05, 10.0, log=True),
        "gamma": Between(0.0001, 1.0, log=True),
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        labeled = codes >= 0
        gamma = scale(X[labeled]) if self.gamma is None else self.gamma
        kernel = rbf_kernel(X, gamma=gamma)
        with sklearn.config_context(assume_finite=True):
            fitted = [self._separate(kernel, signs, labeled) for signs in targets(codes)]
        return machines(X, fitted, gamma)

    def _separate(self, kernel: Matrix, signs: Matrix, labeled: Any) -> tuple[Matrix, float]:
        known, free = np.flatnonzero(labeled), np.flatnonzero(~labeled)
        C = np.where(labeled, self.C, 0.0)
        coef, offset = machine(kernel[np.ix_(known, known)], signs[known], C[known], self.tol)
        margins = kernel[np.ix_(free, known)] @ coef + offset
        positive = round(len(free) * np.mean(signs[known] > 0))
        signs[free] = -1
        signs[free[np.argsort(-margins, kind="stable")[:positive]]] = 1
        both = 0 < positive < len(free)
        balance = positive / (len(free) - positive) if both else 1.0
        level = np.minimum([self.C_u, self.C_u * balance], self.C)
        while True:
            for _ in range(self.max_switches):
                C[free] = np.where(signs[free] > 0, level[1], level[0])
                coef, offset = machine(kernel, signs, C, self.tol)
                support = np.flatnonzero(coef)
                margins = coef[support] @ kernel[support] + offset
                slacks = np.maximum(0, 1 - signs * margins)[free]
                if not switch(signs, slacks, free):
                    break
            if level.min() >= self.C:
                return coef, offset
            level = np.minimum(2 * level, self.C)


def switch(signs: Matrix, slacks: Matrix, free: Codes) -> bool:
    """Swap the signs of all pairs of unlabeled rows that gain by it; returns whether there were
    any.
    """
    order = free[np.argsort(-slacks, kind="stable")]
    ordered = -np.sort(-slacks)
    up, down = signs[order] > 0, signs[order] < 0
    pairs = min(up.sum(), down.sum())
    first, second = ordered[up][:pairs], ordered[down][:pairs]
    worse = (first > 0) & (second > 0) & (first + second > 2)
    for side in (up, down):
        signs[order[side][:pairs][worse]] *= -1
    return bool(worse.any())
