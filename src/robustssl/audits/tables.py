"""The pair of two tables: which columns are compared, and as what."""

from typing import Any

import numpy as np
import pandas as pd

from robustssl.audits import remarks
from robustssl.audits.roles import is_identifier, is_text, leaks
from robustssl.audits.rows import Classes, Pair, is_number
from robustssl.audits.times import times_of
from robustssl.datasets.table import has_doubtful_commas
from robustssl.errors import InputError


def pair_of_tables(
    labeled: pd.DataFrame, y: Classes, unlabeled: pd.DataFrame, **aside: Any
) -> Pair:
    """The pair with the columns that say what rows are like, and notes on those left out and on
    what is strange. aside: fields of the pair.
    """
    if not any(name in unlabeled for name in labeled):
        raise InputError("labeled and unlabeled rows have no column in common")
    names, notes = _compared(labeled, unlabeled)
    kept = [name for name in names if name in unlabeled]
    if not kept:
        raise InputError("each column that both have looks like a time or an identifier of its row")
    doubtful = [name for name in kept if has_doubtful_commas(labeled[name], unlabeled[name])]
    if doubtful:
        notes.append(remarks.AMBIGUOUS.format(names=remarks.listed(doubtful)))
    lost = [name for name in names if name not in unlabeled]
    labeled, unlabeled = labeled[[*kept, *lost]].copy(), unlabeled[kept].copy()
    if labeled.reset_index(drop=True).equals(unlabeled.reset_index(drop=True)):
        notes.append(remarks.SAME)
    for name in kept:
        labeled[name], unlabeled[name] = _alike(labeled[name], unlabeled[name])
    pair = Pair(labeled, y, unlabeled, lost=tuple(map(str, lost)), notes=notes, **aside)
    if found := leaks(pair.labeled, pair.y):
        notes.append(remarks.LEAK.format(names=remarks.listed(found)))
    return pair


def _compared(labeled: pd.DataFrame, unlabeled: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The columns of the labeled rows that are no times and no identifiers, and notes on others."""
    extra = [name for name in unlabeled if name not in labeled]
    times = [name for name in labeled if times_of(labeled[name]) is not None]
    rest = [name for name in labeled if name not in times]
    named = [name for name in rest if is_identifier(labeled[name], unlabeled.get(name))]
    told = ((remarks.EXTRA, extra), (remarks.DATES, times), (remarks.IDENTIFIERS, named))
    notes = [note.format(names=remarks.listed(names)) for note, names in told if names]
    notes += [remarks.MAYBE_TEXT.format(name=n) for n in named if is_text(labeled[n])][:1]
    return [name for name in rest if name not in named], notes


def _alike(labeled: pd.Series, unlabeled: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Both columns as numbers if one holds numbers and most of the other can be read as numbers;
    values that cannot are missing.
    """
    columns = [
        column.astype(float) if _is_boolean(column) else column for column in (labeled, unlabeled)
    ]
    if is_number(columns[0]) != is_number(columns[1]):
        read = [pd.to_numeric(column, errors="coerce") for column in columns]
        if all(r.notna().sum() > 0.5 * c.notna().sum() for r, c in zip(read, columns, strict=True)):
            columns = read
    return columns[0], columns[1]


def _is_boolean(column: pd.Series) -> bool:
    """Whether a column holds true and false, and maybe gaps."""
    return {type(value) for value in column.dropna()} <= {bool, np.bool_} and column.notna().any()
