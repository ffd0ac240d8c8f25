"""Scores of class probabilities, for many weightings of the rows at once; higher is better."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from robustssl.errors import unknown

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


def score_of(name: str, y: Codes, P: Matrix, W: Matrix) -> Matrix:
    """The score of probabilities P (n, K) of rows with the codes y (n,), by weights W (m, n)."""
    return SCORES[name](y, P, W)


def check_score(name: str) -> None:
    if name not in SCORES:
        raise unknown("score", name, SCORES)


def accuracy(y: Codes, P: Matrix, W: Matrix) -> Matrix:
    return np.asarray(W @ (P.argmax(1) == y) / W.sum(1))


def balanced_accuracy(y: Codes, P: Matrix, W: Matrix) -> Matrix:
    """The mean over the classes that have a weight."""
    own = np.eye(P.shape[1])[y]
    total = W @ own
    right = (W * (P.argmax(1) == y)) @ own
    return _mean_of_classes(right, total, total > 0)


def auroc(y: Codes, P: Matrix, W: Matrix) -> Matrix:
    """Of each class against all others, in the mean over the classes."""
    areas = []
    for k in range(P.shape[1]):
        order = np.argsort(P[:, k], kind="stable")
        starts = np.flatnonzero(np.diff(P[order, k], prepend=-1.0))
        mine = np.add.reduceat(W[:, order] * (y == k)[order], starts, axis=1)
        others = np.add.reduceat(W[:, order] * (y != k)[order], starts, axis=1)
        below = np.cumsum(others, 1) - others / 2
        with np.errstate(invalid="ignore"):
            areas.append((mine * below).sum(1) / (mine.sum(1) * others.sum(1)))
    known = np.stack(areas, 1)
    return _mean_of_classes(np.nan_to_num(known), np.ones_like(known), ~np.isnan(known))


def log_loss(y: Codes, P: Matrix, W: Matrix) -> Matrix:
    """Minus the log-loss; a probability of 0 counts as one in a thousand."""
    chance = np.maximum(P[np.arange(len(y)), y], 1e-3)
    return np.asarray(W @ np.log(chance) / W.sum(1))


def _mean_of_classes(value: Matrix, total: Matrix, known: npt.NDArray[np.bool_]) -> Matrix:
    """The mean of value / total over the classes that are known, nan where none is."""
    shares = np.where(known, value, 0) / np.where(known, total, 1)
    count = known.sum(1)
    return np.asarray(np.where(count > 0, shares.sum(1) / np.maximum(count, 1), np.nan))


SCORES: dict[str, Callable[[Codes, Matrix, Matrix], Matrix]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "auroc": auroc,
    "log_loss": log_loss,
}
