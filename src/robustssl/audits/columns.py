"""Feature space: columns that the unlabeled rows lack, hold constant, or hold in another form."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import hypergeom, ks_2samp

from robustssl.analysis.interval import Interval
from robustssl.audits import advice
from robustssl.audits.mixture import LEVEL
from robustssl.audits.rows import Pair, is_number

CHANCE = 1e-3  # below this probability, chance is ruled out


@dataclass(frozen=True)
class Column:
    """A column that the unlabeled rows have lost, and how; share: of the rows that lost it."""

    name: str
    problem: str
    share: float = 1.0


def compare_columns(pair: Pair) -> tuple[Interval, list[Column]]:
    """The share t of columns that the unlabeled rows have lost, and these columns.

    A column counts as lost if it is missing, constant, of another type or on another scale; one
    that is missing in some rows counts in part. A column that is constant in the labeled rows too
    says nothing, so the interval is that of a sample of the columns.
    """
    found = [Column(name, advice.MISSING) for name in pair.lost]
    silent = 0
    for name in pair.unlabeled:
        column = _compare(str(name), pair.labeled[name], pair.unlabeled[name])
        found += [column] if column else []
        silent += column is None and pair.labeled[name].nunique(dropna=True) < 2
    total = pair.labeled.shape[1]
    return _share(sum(column.share for column in found), total - silent, total), found


def _compare(name: str, labeled: pd.Series, unlabeled: pd.Series) -> Column | None:
    mine, theirs = labeled.dropna(), unlabeled.dropna()
    if not len(theirs):
        return Column(name, advice.MISSING) if len(mine) else None
    if not len(mine):
        return None
    if is_number(mine) != is_number(theirs):
        kinds = ["numbers" if is_number(column) else "words" for column in (mine, theirs)]
        return Column(name, advice.OTHER_TYPE.format(*kinds))
    if not is_number(mine):
        new = float((~theirs.astype(str).isin(set(mine.astype(str)))).mean())
        if new > 0.5 and mine.nunique() < len(mine) / 5:
            return Column(name, advice.NEW_WORDS.format(new))
    others = int((mine != theirs.iloc[0]).sum())
    # The probability that all other values are in labeled rows, if the rows were shuffled.
    alike = (len(mine) / (len(mine) + len(theirs))) ** others
    if theirs.nunique() == 1 and others and alike < CHANCE:
        return Column(name, advice.CONSTANT)
    if is_number(mine) and _is_rescaled(mine.to_numpy(float), theirs.to_numpy(float)):
        ratio = _spread(theirs.to_numpy(float)) / _spread(mine.to_numpy(float))
        return Column(name, advice.OTHER_SCALE.format(_rounded(ratio)))
    gone = [1 - len(some) / len(column) for some, column in ((mine, labeled), (theirs, unlabeled))]
    if gone[1] - gone[0] > 3.3 * np.sqrt(
        sum(p * (1 - p) / len(column) for p, column in zip(gone, (labeled, unlabeled), strict=True))
    ) + 1 / len(labeled):
        share = (gone[1] - gone[0]) / (1 - gone[0])
        return Column(name, advice.GAPS.format(gone[1], gone[0]), share)
    return None


def _spread(x: np.ndarray) -> float:
    low, high = np.quantile(x, [0.1, 0.9])
    return float(high - low) or float(x.std())


def _is_rescaled(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether the spreads differ by a factor of 5 or more, and the values agree only after they are
    brought to the same centre and spread.
    """
    if len(np.unique(mine)) < 5 or not _spread(mine) or not _spread(theirs):
        return False
    ratio = _spread(theirs) / _spread(mine)
    if 0.2 < ratio < 5:
        return False
    back = (theirs - np.median(theirs)) / ratio + np.median(mine)
    apart = ks_2samp(mine, theirs).statistic
    return bool(apart > 0.4 and ks_2samp(mine, back).statistic < apart / 2)


def _share(lost: float, seen: int, total: int) -> Interval:
    """t if `lost` of the `seen` columns are lost; of all columns, ceil(t total) are lost at t."""
    if not seen:
        return Interval(np.nan, 0.0, 1.0)
    whole, tail = int(np.floor(lost + 1e-9)), (1 - LEVEL) / 2
    numbers = np.arange(total + 1)
    likely = (hypergeom.sf(whole - 1, total, numbers, seen) > tail) & (
        hypergeom.cdf(whole, total, numbers, seen) > tail
    )
    low, high = numbers[likely].min(), numbers[likely].max() + (lost - whole)
    return Interval(lost / seen, max(low - 1, 0) / total, min(high / total, 1.0))


def _rounded(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio > 1 else f"{ratio:.1g}"
