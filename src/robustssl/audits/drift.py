"""Drift: whether all unlabeled rows have moved alike, instead of some being of another kind."""

from dataclasses import replace

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from robustssl.audits.folds import Codes, Matrix
from robustssl.audits.forests import Fold, score

FEWEST = 50  # different values of a column; one with fewer is told apart by any move


def move_back(
    folds: list[Fold], X: Matrix, codes: Codes, Z: Matrix
) -> tuple[Matrix, Matrix, float]:
    """The scores of labeled rows (X) and unlabeled rows (Z) after the means of the columns of Z
    were moved onto those of X, and the median size of these moves in standard deviations.

    Columns with few different values stay. The classes keep their shares: those that were estimated
    for rows which have moved cannot be trusted.
    """
    many = [len(np.unique(column)) >= FEWEST for column in np.concatenate([X, Z]).T]
    d, move = X.shape[1], np.where(many, Z.mean(0) - X.mean(0), 0.0)
    moved = [
        replace(
            fold,
            A=fold.A[:, :d],
            a=fold.a[:, :d],
            B=fold.B[:, :d] - move,
            b=fold.b[:, :d] - move,
        )
        for fold in folds
    ]
    low, high, _ = score(moved, slice(0, d), np.bincount(codes) / len(codes), ExtraTreesClassifier)
    size = np.abs(move[many]) / np.maximum(X.std(0)[many], 1e-9)
    return low, high, float(np.median(size)) if any(many) else 0.0
