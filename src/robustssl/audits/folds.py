"""Folds in which identical rows stay together, so that no row is scored by a model that saw it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from robustssl.errors import InputError

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

FOLDS = 5


class Both(NamedTuple):
    """One value for each labeled and each unlabeled row."""

    labeled: npt.NDArray[Any]
    unlabeled: npt.NDArray[Any]


def same_rows(X: Matrix) -> Codes:
    """A number for each row, equal for identical rows.

    If the columns have so few values that different rows often coincide, all numbers differ.
    """
    frame = pd.DataFrame(X)
    if np.log(frame.nunique()).sum() < np.log(10 * len(X)):
        return np.arange(len(X))
    return np.asarray(frame.groupby(list(frame), sort=False).ngroup())


def joined(groups: Codes, others: Codes) -> Codes:
    """A number for each row, equal for rows that are connected by equal numbers in either array."""
    a, b = (np.unique(numbers, return_inverse=True)[1] for numbers in (groups, others))
    size = a.max(initial=-1) + b.max(initial=-1) + 2
    edges = coo_array((np.ones(len(a)), (a, b + a.max(initial=-1) + 1)), shape=(size, size))
    return np.asarray(connected_components(edges, directed=False)[1][a])


def stratified(
    codes: Codes, groups: Codes, n: int, seed: int, time: Matrix | None = None
) -> Iterator[tuple[Codes, Codes]]:
    """At most n folds with the same share of every class; or, if the rows have a time, folds in
    time order (`forward`). No group is divided.
    """
    if time is not None:
        return forward(codes, groups, n, time)
    distinct = len(np.unique(groups))
    if distinct in (1, len(groups)):
        return StratifiedKFold(n, shuffle=True, random_state=seed).split(codes, codes)  # type: ignore[no-any-return]
    split = StratifiedGroupKFold(min(n, distinct), shuffle=True, random_state=seed)
    return split.split(codes, codes, groups)  # type: ignore[no-any-return]


def forward(codes: Codes, groups: Codes, n: int, time: Matrix) -> Iterator[tuple[Codes, Codes]]:
    """The later half of the rows in at most n blocks; each is held out from all rows that are
    earlier than the block, as a model is used on rows that are later than those it has learned.

    A row without a time is in no fold. Rows of a group that the block has too are not learned. An
    error if no block has earlier rows of two classes.
    """
    cuts = np.unique(np.nanquantile(time, np.linspace(0.5, 1, n + 1)[:-1], method="higher"))
    found = []
    for first, last in zip(cuts, [*cuts[1:], np.inf], strict=True):
        block = np.flatnonzero((time >= first) & (time < last))
        earlier = np.flatnonzero((time < first) & ~np.isin(groups, groups[block]))
        if len(np.unique(codes[earlier])) > 1:
            found.append((earlier, block))
    if not found:
        raise InputError(
            "folds in time order need earlier labeled rows of two classes or more: leave out --time"
        )
    return iter(found)


def parts(codes: Codes, alike: tuple[Codes, Codes], seed: int) -> list[tuple[Codes, Codes]]:
    """The labeled rows (stratified by class) and the unlabeled rows of each fold; alike: numbers of
    labeled and unlabeled rows, equal for those that must be in the same fold.
    """
    labeled, unlabeled = alike
    rarest = np.bincount(codes)[np.unique(codes)].min()
    n = max(min(FOLDS, rarest, len(np.unique(labeled))), 2)
    own = np.unique(unlabeled, return_inverse=True)[1]
    places = np.random.default_rng(seed).permutation(own.max() + 1)[own] % n
    found = []
    for k, (_, rows) in enumerate(stratified(codes, labeled, n, seed)):
        found.append(rows)
        places[np.isin(unlabeled, labeled[rows])] = k
    return [(rows, np.flatnonzero(places == k)) for k, rows in enumerate(found)]
