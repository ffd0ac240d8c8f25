"""Feature space: which columns the unlabeled rows lack, hold constant, or write otherwise."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import hypergeom, ks_2samp

from robustssl.audits.estimate import LEVEL, Estimate
from robustssl.audits.rows import Pair, is_number

CHANCE = 1e-3  # below this probability, chance is ruled out


@dataclass(frozen=True)
class Column:
    """What is wrong with a column of the unlabeled rows; share: of rows that have lost it."""

    name: str
    problem: str
    share: float = 1.0


def compare_columns(pair: Pair) -> tuple[Estimate, list[Column]]:
    """The share of features that the unlabeled rows have lost, as t, and these features.

    A feature counts as lost if it is missing, constant, of another type or on another scale; one
    that is missing in some rows counts in part. A column that is constant in the labeled rows too
    says nothing; t is then as uncertain as a sample of the columns leaves it.
    """
    found = [Column(name, "missing") for name in pair.lost]
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
        return Column(name, "missing") if len(mine) else None
    if not len(mine):
        return None
    if is_number(mine) != is_number(theirs):
        kinds = ["numbers" if is_number(column) else "words" for column in (mine, theirs)]
        return Column(name, f"{kinds[0]} in labeled rows, {kinds[1]} in unlabeled ones")
    if not is_number(mine):
        new = float((~theirs.astype(str).isin(set(mine.astype(str)))).mean())
        if new > 0.5 and mine.nunique() < len(mine) / 5:
            return Column(name, f"words that no labeled row has, in {new:.0%} of rows")
    others = int((mine != theirs.iloc[0]).sum())
    alike = (len(mine) / (len(mine) + len(theirs))) ** others  # all others among the labeled rows
    if theirs.nunique() == 1 and others and alike < CHANCE:
        return Column(name, "constant")
    if is_number(mine) and _is_rescaled(mine.to_numpy(float), theirs.to_numpy(float)):
        ratio = _spread(theirs.to_numpy(float)) / _spread(mine.to_numpy(float))
        return Column(name, f"on another scale, about {_rounded(ratio)} times as wide")
    gone = [1 - len(some) / len(column) for some, column in ((mine, labeled), (theirs, unlabeled))]
    if gone[1] - gone[0] > 3.3 * np.sqrt(
        sum(p * (1 - p) / len(column) for p, column in zip(gone, (labeled, unlabeled), strict=True))
    ) + 1 / len(labeled):
        share = (gone[1] - gone[0]) / (1 - gone[0])
        told = f"missing in {gone[1]:.0%} of unlabeled rows and {gone[0]:.0%} of labeled ones"
        return Column(name, told, share)
    return None


def _spread(x: np.ndarray) -> float:
    low, high = np.quantile(x, [0.1, 0.9])
    return float(high - low) or float(x.std())


def _is_rescaled(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether the values hardly overlap, and are alike once they have the same centre and width,
    of which one is several times the other.
    """
    if len(np.unique(mine)) < 5 or not _spread(mine) or not _spread(theirs):
        return False
    ratio = _spread(theirs) / _spread(mine)
    if 0.2 < ratio < 5:
        return False
    back = (theirs - np.median(theirs)) / ratio + np.median(mine)
    apart = ks_2samp(mine, theirs).statistic
    return bool(apart > 0.4 and ks_2samp(mine, back).statistic < apart / 2)


def _share(lost: float, seen: int, total: int) -> Estimate:
    """t of which `lost` of the `seen` columns are lost; ceil(t d) features are lost at t."""
    if not seen:
        return Estimate(np.nan, 0.0, 1.0)
    whole, tail = int(np.floor(lost + 1e-9)), (1 - LEVEL) / 2
    numbers = np.arange(total + 1)
    likely = (hypergeom.sf(whole - 1, total, numbers, seen) > tail) & (
        hypergeom.cdf(whole, total, numbers, seen) > tail
    )
    low, high = numbers[likely].min(), numbers[likely].max() + (lost - whole)
    return Estimate(lost / seen, max(low - 1, 0) / total, min(high / total, 1.0))


def _rounded(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio > 1 else f"{ratio:.1g}"
