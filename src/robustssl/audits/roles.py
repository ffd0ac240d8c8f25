"""What a column is for: it names the row, holds texts, gives the class away, or is a feature."""

import re
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from robustssl.audits.rows import Classes, is_number

NAMELESS = re.compile(r"Unnamed: \d+")  # what pandas calls a column without a name
MOST = 3000  # labeled rows that are looked at for leaks
ALL, FEWER = 0.99, 0.95  # nearly all rows, which a leak gets right, and the most that others may
LARGEST = 1e30  # a tree compares 32-bit numbers


def is_identifier(labeled: pd.Series, unlabeled: pd.Series | None) -> bool:
    """Whether a column only says which row it is, or cannot be compared: words that differ in
    nearly every row, or whole numbers that count the rows of each file or of both.
    """
    try:
        distinct, rows = labeled.nunique(), len(labeled)
    except TypeError:  # values that cannot be hashed, such as lists
        return True
    if not is_number(labeled):
        return bool(distinct > max(50, rows / 2) or distinct > max(20, 0.9 * rows))
    files = [labeled.dropna(), *([] if unlabeled is None else [unlabeled.dropna()])]
    if not all(map(is_number, files)) or sum(map(len, files)) < 20:
        return False
    numbers = [part.to_numpy(float) for part in files if len(part)]
    if not all((part % 1 == 0).all() and len(np.unique(part)) == len(part) for part in numbers):
        return False
    both = np.concatenate(numbers)
    ascends = len(np.unique(both)) == len(both) and (np.diff(both) > 0).mean() > 0.98
    nameless = NAMELESS.fullmatch(str(labeled.name)) is not None
    return bool(nameless or ascends or _counts(both) or all(map(_counts, numbers)))


def _counts(numbers: np.ndarray) -> bool:
    """Whether nearly all numbers differ, and few in their range are left out."""
    distinct = len(np.unique(numbers))
    return bool(distinct >= 0.9 * len(numbers) and np.ptp(numbers) < 2 * len(numbers))


def is_text(column: pd.Series) -> bool:
    if is_number(column):
        return False
    words = column.dropna().astype(str).str.split().str.len()
    return bool(words.mean() > 3)


def leaks(labeled: pd.DataFrame, y: Classes) -> list[str]:
    """The columns that give the class away: one alone is right for nearly all rows, and all others
    together are not.
    """
    rows = np.random.default_rng(0).permutation(len(y))[:MOST]
    classes, codes = np.unique(y[rows], return_inverse=True)
    frame = labeled.iloc[rows].apply(_codes)
    tree = DecisionTreeClassifier(max_leaf_nodes=4 * len(classes), random_state=0)
    found = [
        name
        for name in frame
        if tree.fit(frame[[name]].to_numpy(), codes).score(frame[[name]].to_numpy(), codes) >= ALL
        and _hits(tree, frame[[name]], codes) >= ALL
    ]
    others = frame.drop(columns=found)
    if found and others.shape[1]:
        forest = RandomForestClassifier(50, random_state=0)
        found = [] if _hits(forest, others, codes) > FEWER else found
    return [str(name) for name in found]


def _codes(column: pd.Series) -> pd.Series:
    """Numbers, the missing ones below all others; or words by their order of appearance."""
    if is_number(column):
        numbers = column.astype(float).clip(-LARGEST, LARGEST)
        return numbers.fillna(-2 * LARGEST)
    return pd.Series(pd.factorize(column.astype(str))[0].astype(float), column.index)


def _hits(model: Any, X: pd.DataFrame, codes: np.ndarray) -> float:
    """The cross-validated share of rows that a model gets right."""
    folds = KFold(5, shuffle=True, random_state=0)
    return float((cross_val_predict(model, X.to_numpy(), codes, cv=folds) == codes).mean())
