"""Graphs over all rows, and the linear systems that graph methods solve on them."""

import warnings
from typing import Any

import numpy as np
from scipy.linalg import solve as solve_dense
from scipy.sparse import diags_array, issparse
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from robustssl.classifier import Matrix


def neighbors(X: Matrix, n_neighbors: int) -> Any:
    """Sparse weights: 1 if one of two rows is among the nearest neighbours of the other."""
    graph = kneighbors_graph(X, min(n_neighbors, len(X) - 1))
    return graph.maximum(graph.T).tocsr()


def kernel(X: Matrix, gamma: float) -> Matrix:
    """Dense weights exp(-gamma |x_i - x_j|^2), with zeros on the diagonal."""
    W: Matrix = rbf_kernel(X, gamma=gamma)
    np.fill_diagonal(W, 0)
    return W


def roots(W: Any) -> Matrix:
    """1 / sqrt(degree) of every row; 1 for a row without neighbours."""
    degrees = np.asarray(W.sum(1)).ravel()
    return np.asarray(1 / np.sqrt(np.where(degrees > 0, degrees, 1)))


def scaled(W: Any, rows: Matrix, columns: Matrix) -> Any:
    """diag(rows) W diag(columns). A dense W is overwritten, since it may fill the memory."""
    if issparse(W):
        return (diags_array(rows) @ W @ diags_array(columns)).tocsr()
    W *= rows[:, None]
    W *= columns
    return W


def solve(S: Any, B: Matrix) -> Matrix:
    """F with (I - S) F = B, for a symmetric S with eigenvalues below 1. Negative values, which are
    rounding errors, become 0.

    A dense S is overwritten.
    """
    if not issparse(S):
        np.negative(S, out=S)
        S[np.diag_indices(len(S))] += 1
        return np.asarray(np.maximum(solve_dense(S, B, assume_a="pos", overwrite_a=True), 0))

    def apply(f: Matrix) -> Matrix:
        F = f.reshape(B.shape)
        return np.asarray(F - S @ F).ravel()

    system = LinearOperator((B.size, B.size), matvec=apply, dtype=float)
    f, failed = cg(system, B.ravel(), rtol=1e-10, maxiter=10_000)
    if failed:
        warnings.warn(
            "the solver of the graph's linear system did not converge",
            ConvergenceWarning,
            stacklevel=2,
        )
    return np.asarray(np.maximum(f.reshape(B.shape), 0))
