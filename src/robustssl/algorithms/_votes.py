"""Votes of training rows, by which a graph method predicts rows that are not in its graph."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from robustssl.classifier import Matrix, to_rows


@dataclass(frozen=True)
class KernelVotes:
    """p(x) is proportional to the sum over rows i of exp(-gamma |x - x_i|^2) F_i.

    The weights are divided by the largest one, which changes no ratio: far from all rows, where
    every weight would underflow, the nearest row that has a vote decides.
    """

    X: Matrix
    F: Matrix
    gamma: float

    def predict_proba(self, X: Matrix) -> Matrix:
        votes = self.F.sum(1) > 0
        exponent = pairwise_distances(X, self.X[votes], metric="sqeuclidean") * -self.gamma
        weights = np.exp(exponent - exponent.max(1, keepdims=True))
        return to_rows(weights @ self.F[votes])


@dataclass(frozen=True)
class NeighborVotes:
    """p(x) is proportional to the sum of exp(-|x - x_i|^2 / r^2) F_i over the nearest rows that
    have a vote, where r is the distance to the farthest of them.
    """

    X: Matrix
    F: Matrix
    n_neighbors: int

    def predict_proba(self, X: Matrix) -> Matrix:
        votes = self.F.sum(1) > 0
        index = NearestNeighbors(n_neighbors=min(self.n_neighbors, votes.sum())).fit(self.X[votes])
        distances, rows = index.kneighbors(X)
        weights = np.exp(-((distances / np.maximum(distances[:, -1:], 1e-300)) ** 2))
        return to_rows(np.einsum("nk,nkc->nc", weights, self.F[votes][rows]))
