"""Forests that score how much a row looks unlabeled; no forest has seen the rows that it scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import ExtraTreesClassifier

from robustssl.audits.folds import Both, Codes, Matrix, joined, parts, same_rows

Step = Callable[[], None]

DISTANCES = 5
TREES, TREES_OF_LIKENESS = 100, 60  # of each forest
CHUNK = 2000  # rows whose distances to all labeled rows are held in memory at once


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from, labeled (A) and unlabeled (B), and rows held out (a and b).

    Each row is its features, followed by its likeness to labeled rows of other folds. codes: the
    classes of A. labeled, unlabeled: the numbers of the rows held out. outside: the numbers of rows
    that are in no fold's B, and measure: what gives their likeness.
    """

    A: Matrix
    B: Matrix
    a: Matrix
    b: Matrix
    codes: Codes
    labeled: Codes
    unlabeled: Codes
    outside: Codes
    measure: Callable[[Matrix], Matrix]


def make_folds(
    X: Matrix, codes: Codes, Z: Matrix, sample: Codes, group: Both | None, step: Step
) -> list[Fold]:
    """The folds of X (labeled) and Z (unlabeled), in which identical rows and those of a group stay
    together. They learn from the rows `sample` of Z only.
    """
    numbers = same_rows(np.concatenate([X, Z]))
    if group is not None:
        numbers = joined(numbers, np.concatenate(group))
    labeled, unlabeled = np.split(numbers, [len(X)])
    folds = []
    for k, (x, z) in enumerate(parts(codes, (labeled, unlabeled), seed=0)):
        kept, held = np.setdiff1d(sample, z), np.intersect1d(sample, z)
        A, B, left, K = _without(X, x), Z[kept], np.delete(codes, x), codes.max() + 1
        alike = np.delete(labeled, x), unlabeled[kept]
        inner = _cross_likeness(A, left, B, K, alike, seed=k + 1)
        measure = _likeness(A, left, K)
        both = zip((A, B, X[x], Z[held]), (*inner, *map(measure, (X[x], Z[held]))), strict=True)
        A, B, a, b = (np.hstack(rows) for rows in both)
        folds.append(Fold(A, B, a, b, left, x, held, np.setdiff1d(z, sample), measure))
        step()
    return folds


def score(
    folds: list[Fold],
    columns: slice,
    shares: Matrix,
    forest: Any,
    step: Step = lambda: None,
    Z: Matrix | None = None,
) -> tuple[Matrix, Matrix, Matrix]:
    """The probability of being unlabeled, of labeled and of unlabeled rows; and the importance of
    each column.

    Labeled and unlabeled rows weigh the same in total, and the classes have the shares given. The
    rows outside of the sample are scored if Z, all unlabeled rows, is given; else theirs are nan.
    """
    low = np.empty(sum(len(fold.labeled) for fold in folds))
    high = np.full(sum(len(fold.unlabeled) + len(fold.outside) for fold in folds), np.nan)
    importance: Any = 0
    for fold in folds:
        counts = np.bincount(fold.codes, minlength=len(shares))
        weights = (shares / np.maximum(counts, 1))[fold.codes]
        both = np.concatenate([fold.A, fold.B])[:, columns]
        is_unlabeled = np.arange(len(both)) >= len(fold.A)
        weights = np.where(
            is_unlabeled, 1 / len(fold.B), np.pad(weights / weights.sum(), (0, len(fold.B)))
        )
        model = forest(TREES, min_samples_leaf=5, random_state=0)
        model.fit(both, is_unlabeled, sample_weight=weights * len(both))
        model.n_jobs = 1  # threads add up the trees in any order, which changes the last digits
        if len(fold.a):
            low[fold.labeled] = model.predict_proba(fold.a[:, columns])[:, 1]
        if len(fold.b):
            high[fold.unlabeled] = model.predict_proba(fold.b[:, columns])[:, 1]
        for start in range(0, 0 if Z is None else len(fold.outside), CHUNK):
            rows = fold.outside[start : start + CHUNK]
            features = np.hstack([Z[rows], fold.measure(Z[rows])])  # type: ignore[index]
            high[rows] = model.predict_proba(features[:, columns])[:, 1]
        importance = importance + model.feature_importances_
        step()
    return low, high, importance


def _without(X: Matrix, rows: Codes) -> Matrix:
    return np.asarray(np.delete(X, rows, axis=0))


def _likeness(X: Matrix, codes: Codes, K: int) -> Callable[[Matrix], Matrix]:
    """A function that measures how similar rows are to the labeled rows X.

    It gives distances to class centres and to the nearest rows, Euclidean and by the covariance
    within classes; the probabilities of the K classes; and the largest three of these.
    """
    present, own = np.unique(codes, return_inverse=True)
    centres = np.stack([X[codes == k].mean(0) for k in present])
    within = LedoitWolf(assume_centered=True).fit(X - centres[own])
    root = np.linalg.cholesky(within.precision_)
    how: Any = {"class_weight": "balanced", "random_state": 0, "n_jobs": 1}
    forest = ExtraTreesClassifier(TREES_OF_LIKENESS, min_samples_leaf=2, **how).fit(X, codes)

    def measure(rows: Matrix) -> Matrix:
        if not len(rows):
            return np.empty((0, DISTANCES + K + min(K, 3)))
        nearest = np.partition(cdist(rows, X), 2, axis=1)
        distances = (
            cdist(rows, centres).min(1),
            cdist(rows @ root, centres @ root).min(1),
            nearest[:, :2].min(1),
            nearest[:, 2],
            cdist(rows @ root, X @ root).min(1),
        )
        P = np.zeros((len(rows), K))
        P[:, present] = forest.predict_proba(rows)
        logs = np.log(np.stack(distances) + 1e-9)
        return np.column_stack([*logs, P, -np.sort(-P, axis=1)[:, :3]])

    return measure


def _cross_likeness(
    X: Matrix, codes: Codes, Z: Matrix, K: int, alike: tuple[Codes, Codes], seed: int
) -> tuple[Matrix, Matrix]:
    """The likeness of the rows X and Z, each to labeled rows of other folds."""
    folds = parts(codes, alike, seed)
    found: tuple[list[Matrix], list[Matrix]] = ([], [])
    for x, z in folds:
        measure = _likeness(_without(X, x), np.delete(codes, x), K)
        found[0].append(measure(X[x]))
        found[1].append(measure(Z[z]))
    places = (np.argsort(np.concatenate(rows)) for rows in zip(*folds, strict=True))
    labeled, unlabeled = (np.concatenate(v)[i] for v, i in zip(found, places, strict=True))
    return labeled, unlabeled
