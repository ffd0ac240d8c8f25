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


def odd_cases() -> dict[str, tuple[Any, Any]]:
    """X and y of what is rare in studies, such as a class with one label, by a name."""
    X, y, _, _ = blobs(1, rows=90, labels=5)
    labeled, last, rng = y != UNLABELED, np.arange(90) == 89, np.random.default_rng(0)
    constant, far = X.copy(), X.copy()
    constant[:, ::2] = 3.0
    far[~labeled] *= 1e6
    single = y.copy()
    single[np.flatnonzero(y == 2)[1:]] = UNLABELED
    islands = 20 * rng.normal(size=(30, 8))[rng.integers(30, size=300)]
    unknown_X = np.vstack([X[labeled], islands + rng.normal(size=(300, 8))])
    unknown_y = np.concatenate([y[labeled], np.full(300, UNLABELED)])
    return {
        "no unlabeled rows": (X[labeled], y[labeled]),
        "one unlabeled row": (X[labeled | last], y[labeled | last]),
        "one class": (X, np.where(y > 0, UNLABELED, y)),
        "a class with one label": (X, single),
        "constant features": (constant, y),
        "nothing but constant features": (np.ones_like(X), y),
        "one feature": (X[:, :1], y),
        "duplicated rows": (np.vstack([X, X, X]), np.concatenate([y, y, y])),
        "far-away unlabeled rows": (far, y),
        "ten times as many unlabeled classes": (unknown_X, unknown_y),
    }
