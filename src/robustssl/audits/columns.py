"""Feature space: columns that the unlabeled rows lack, hold constant, or hold in another form."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import kolmogi
from scipy.stats import hypergeom, ks_2samp

from robustssl.analysis.interval import Interval
from robustssl.audits import remarks
from robustssl.audits.mixture import LEVEL
from robustssl.audits.rows import Pair, is_number

CHANCE = 1e-3  # below this probability, chance is ruled out
UNIT, DEGREE = 2, 1.5  # the least factor between units, as of kilograms and pounds; with a shift


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
    found = [Column(name, remarks.MISSING) for name in pair.lost]
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
        return Column(name, remarks.MISSING) if len(mine) else None
    if not len(mine):
        return None
    if is_number(mine) != is_number(theirs):
        kinds = ["numbers" if is_number(column) else "words" for column in (mine, theirs)]
        return Column(name, remarks.OTHER_TYPE.format(*kinds))
    if not is_number(mine):
        new = float((~theirs.astype(str).isin(set(mine.astype(str)))).mean())
        if new > 0.5 and mine.nunique() < len(mine) / 5:
            return Column(name, remarks.NEW_WORDS.format(new))
    others = int((mine != theirs.iloc[0]).sum())
    # The probability that all other values are in labeled rows, if the rows were shuffled.
    alike = (len(mine) / (len(mine) + len(theirs))) ** others
    if theirs.nunique() == 1 and others and alike < CHANCE:
        return Column(name, remarks.CONSTANT)
    if is_number(mine) and _is_rescaled(mine.to_numpy(float), theirs.to_numpy(float)):
        ratio = _spread(theirs.to_numpy(float)) / _spread(mine.to_numpy(float))
        return Column(name, remarks.OTHER_SCALE.format(_rounded(ratio)))
    gone = [1 - len(some) / len(column) for some, column in ((mine, labeled), (theirs, unlabeled))]
    if gone[1] - gone[0] > 3.3 * np.sqrt(
        sum(p * (1 - p) / len(column) for p, column in zip(gone, (labeled, unlabeled), strict=True))
    ) + 1 / len(labeled):
        share = (gone[1] - gone[0]) / (1 - gone[0])
        return Column(name, remarks.GAPS.format(gone[1], gone[0]), share)
    return None


def _spread(x: np.ndarray) -> float:
    low, high = np.quantile(x, [0.1, 0.9])
    return float(high - low) or float(x.std())


def _is_rescaled(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether the values are in another unit, and not a selection of values.

    In another unit all quantiles change by one factor, as from metres to feet, so the values agree
    after they are divided by it. Selected values lie among the others: in another unit some lie
    beyond all of these or, in a larger unit, where nearly none of these lie. A factor and a shift,
    as from Celsius to Fahrenheit, fit more selections, so then nearly all must lie beyond. Zero is
    left out, as it is zero in any unit.
    """
    mine, theirs = mine[mine != 0], theirs[theirs != 0]
    if min(len(np.unique(x)) for x in (mine, theirs)) < 10:
        return False
    factor = np.median(np.abs(theirs)) / np.median(np.abs(mine))
    spread = _spread(theirs) / _spread(mine)
    beyond = ((theirs < mine.min()) | (theirs > mine.max())).mean()
    low, high = np.quantile(theirs, [0.05, 0.95])
    if max(factor, 1 / factor) > UNIT and _agree(mine, theirs / factor):
        inside = ((mine >= low) & (mine <= high)).mean()
        return bool(beyond > 0.1 if factor > 1 else inside < 0.02)
    back = (theirs - np.median(theirs)) / spread + np.median(mine)
    return bool(beyond > 0.9 and max(spread, 1 / spread) > DEGREE and _agree(mine, back))


def _agree(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two distributions do not differ beyond chance (Kolmogorov and Smirnov)."""
    chance = kolmogi(CHANCE) * np.sqrt(1 / len(x) + 1 / len(y))
    return bool(ks_2samp(x, y).statistic < chance)


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
