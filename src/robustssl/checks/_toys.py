"""Small datasets that are drawn from a seed, for the checks of algorithms."""

from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from robustssl.data import UNLABELED

ToyData = tuple[Any, Any, Any, Any]  # X, y, X_test, y_test; y is -1 for unlabeled rows


def blobs(seed: int, rows: int = 300, labels: int = 15, test: int = 1000) -> ToyData:
    """Three round clusters in eight dimensions, with so many labels for each."""
    rng = np.random.default_rng(seed)
    centres, truth = rng.normal(size=(3, 8)), np.arange(rows + test) % 3
    return toy_data(centres[truth] + rng.normal(size=(rows + test, 8)), truth, rows, labels)


def moons(seed: int, rows: int = 200, labels: int = 4, test: int = 1000) -> ToyData:
    """Two interleaved half-moons."""
    X, truth = make_moons(rows + test, noise=0.1, random_state=seed)
    return toy_data(X, truth, rows, labels)


def toy_data(X: Any, truth: Any, rows: int, labels: int) -> ToyData:
    """Standardised rows; the first `rows` are for training, with `labels` labels for each class."""
    X = (X - X[:rows].mean(0)) / X[:rows].std(0)
    y = np.full(rows, UNLABELED)
    for k in np.unique(truth):
        y[np.flatnonzero(truth[:rows] == k)[:labels]] = k
    return X[:rows], y, X[rows:], truth[rows:]
