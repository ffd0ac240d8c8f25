"""Folds in which identical rows stay together, so that no row is scored by a model that saw it."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

FOLDS = 5


def same_rows(X: Matrix) -> Codes:
    """A number for each row, equal for identical rows.

    If the columns have so few values that different rows often coincide, all numbers differ.
    """
    frame = pd.DataFrame(X)
    if np.log(frame.nunique()).sum() < np.log(10 * len(X)):
        return np.arange(len(X))
    return np.asarray(frame.groupby(list(frame), sort=False).ngroup())


def stratified(codes: Codes, groups: Codes, n: int, seed: int) -> Iterator[tuple[Codes, Codes]]:
    """Folds with the same share of every class; no group is divided."""
    distinct = len(np.unique(groups))
    if distinct in (1, len(groups)):
        return StratifiedKFold(n, shuffle=True, random_state=seed).split(codes, codes)  # type: ignore[no-any-return]
    split = StratifiedGroupKFold(min(n, distinct), shuffle=True, random_state=seed)
    return split.split(codes, codes, groups)  # type: ignore[no-any-return]


def parts(X: Matrix, codes: Codes, Z: Matrix, seed: int) -> list[tuple[Codes, Codes]]:
    """The labeled rows (of X, stratified by class) and the unlabeled rows (of Z) of each fold."""
    n = max(min(FOLDS, np.bincount(codes)[np.unique(codes)].min()), 2)
    labeled, unlabeled = np.split(same_rows(np.concatenate([X, Z])), [len(X)])
    own = np.unique(unlabeled, return_inverse=True)[1]
    places = np.random.default_rng(seed).permutation(own.max() + 1)[own] % n
    found = []
    for k, (_, rows) in enumerate(stratified(codes, labeled, n, seed)):
        found.append(rows)
        places[np.isin(unlabeled, labeled[rows])] = k
    return [(rows, np.flatnonzero(places == k)) for k, rows in enumerate(found)]
