"""Label Propagation (Zhu & Ghahramani, 2002, CMU-CALD-02-107)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sklearn.semi_supervised
from scipy.cluster.hierarchy import linkage

from robustssl.algorithms._graph import kernel, neighbors, roots, scaled, solve
from robustssl.algorithms._votes import KernelVotes, NeighborVotes
from robustssl.classifier import Codes, EncodedClassifier, Matrix, one_hot, to_rows
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class LabelPropagation(EncodedClassifier):
    """F <- P F with the labeled rows held fixed, where P is the row-normalised weight matrix of a
    graph, in the limit F_u = (I - P_uu)^-1 P_ul Y_l.

    n_neighbors: of a sparse graph of nearest neighbours, which is better and faster on standardised
    rows. null: a graph of all rows with weights exp(-gamma |x_i - x_j|^2).
    gamma: null is the authors' rule.
    steps: with a graph of all rows, iterate at most this many times, or until F changes by less
    than tol, instead of taking the limit.

    Departures: a sparse graph of 7 nearest neighbours, as many as in scikit-learn, instead of one
    of all rows, which needs the square of the memory.
    """

    n_neighbors: Count | None = 7
    gamma: Positive | None = None
    steps: Count | None = None
    tol: NotNegative = 1e-3

    baseline = "supervised_kernel"
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Zhu and Ghahramani 2002, section 2", {"n_neighbors": None}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/LabelPropagation.py",
            {"n_neighbors": None, "gamma": 1.0, "steps": 10_000, "tol": 1e-3},
        ),
    }
    version = 2
    # gamma and steps act in a graph of all rows alone, which a search leaves out for its memory.
    space: ClassVar[Space] = {"n_neighbors": Between(2, 100, log=True)}

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        if self.n_neighbors is not None:
            F = harmonic(neighbors(X, self.n_neighbors), codes)
            return NeighborVotes(X, F, self.n_neighbors)
        gamma = authors_gamma(X, codes) if self.gamma is None else self.gamma
        if self.steps is None:
            return KernelVotes(X, harmonic(kernel(X, gamma), codes), gamma)
        stepwise = sklearn.semi_supervised.LabelPropagation(
            gamma=gamma, max_iter=self.steps, tol=self.tol
        )
        F = stepwise.fit(X, codes).label_distributions_
        return KernelVotes(X, F, gamma)


def harmonic(W: Any, codes: Codes) -> Matrix:
    """The limit. A walk ends with probability 1e-9 in each step, so rows that are not connected to
    any label get no vote.
    """
    Y, unlabeled = one_hot(codes), np.flatnonzero(codes < 0)
    root = roots(W)[unlabeled] / np.sqrt(1 + 1e-9)
    labeled = np.flatnonzero(codes >= 0)
    inner = scaled(W[np.ix_(unlabeled, unlabeled)], root, root)
    F = root[:, None] * solve(inner, root[:, None] * (W[np.ix_(unlabeled, labeled)] @ Y[labeled]))
    Y[unlabeled] = to_rows(np.where(F.sum(1, keepdims=True) > 1e-6, F, 0))
    return Y


def authors_gamma(X: Matrix, codes: Codes) -> float:
    """1 / sigma^2 with sigma = d / 3, where d is the length of the shortest edge of the minimum
    spanning tree (in Kruskal's order) that joins components with different labels.
    """
    labels = [{int(code)} - {-1} for code in codes]
    for first, second, distance, _ in linkage(X, "single"):
        one, other = labels[int(first)], labels[int(second)]
        labels.append(one | other)
        if one and other and len(one | other) > 1 and distance > 0:
            return float(9 / distance**2)
    return 1.0
