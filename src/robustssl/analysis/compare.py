"""Curves side by side: gain over the baseline, break-even; tests over datasets."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from robustssl.analysis.curve import Curve
from robustssl.analysis.interval import Array, Interval, Ties
from robustssl.analysis.metrics import Metric
from robustssl.errors import InputError


def gain(curve: Curve, baseline: Curve, *, identical: bool = False) -> Curve:
    """The curve minus its baseline's, seed by seed. `identical`: both made the same predictions."""
    if not np.array_equal(curve.ts, baseline.ts):
        raise InputError("a curve and its baseline need the same grid of t")
    if curve.scores.shape != baseline.scores.shape:
        raise InputError("a curve and its baseline need the same seeds")
    (low, high), (least, most) = (cast(tuple[float, float], c.bounds) for c in (curve, baseline))
    rows = np.nan if curve.ties is None else curve.ties.rows
    return Curve(
        curve.ts,
        curve.scores - baseline.scores,
        bounds=(low - most, high - least),
        ties=Ties(rows, difference=True, identical=identical),
    )


def _negative_area(ts: Array, a: Array) -> Array:
    """The integral of max(0, -A), exact where A crosses zero between two points."""
    h, a0, a1 = np.diff(ts), a[..., :-1], a[..., 1:]
    below0, below1 = np.maximum(-a0, 0), np.maximum(-a1, 0)
    crossing = a0 * a1 < 0
    span = np.abs(a0) + np.abs(a1)
    triangle = (below0 + below1) ** 2 / np.where(crossing, span, 1)
    return cast(Array, (h * np.where(crossing, triangle, below0 + below1) / 2).sum(-1))


area_below = Metric(_negative_area, (0.0, np.inf))
"""Of a gain: the area by which the curve lies below its baseline."""


@dataclass(frozen=True)
class BreakEven:
    """The first t at which a curve falls below its baseline; None is "none up to 1".

    Where there is no band, low and high are nan.
    The interval runs from the first t where the lower band is below zero to the first where the
    upper is.
    """

    estimate: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        ends = ["none" if t is None else f"{t:.2f}" for t in (self.estimate, self.low, self.high)]
        return ends[0] if "nan" in ends else "{} [{}, {}]".format(*ends)


def break_even(gain: Curve, level: float = 0.95) -> BreakEven:
    """Where the gain turns negative, with its interval from the paired band, if it has one."""
    if gain.scores.ndim != 2:
        raise InputError("break-even is read from one curve at a time")
    return break_even_of(gain.ts, Interval(gain.mean, *gain.band(level)))


def break_even_of(ts: Array, gain: Interval) -> BreakEven:
    """Where a mean gain turns negative, given with its intervals at each t."""
    estimate, low, high = (_first_negative(ts, a) for a in (gain.estimate, gain.low, gain.high))
    if np.isnan(gain.low).any():
        low = high = np.nan
    return BreakEven(estimate, low, high)


def _first_negative(ts: Array, a: Array) -> float | None:
    below = np.flatnonzero(a < 0)
    if not below.size:
        return None
    i = below[0]
    if i == 0:
        return 0.0
    return float(ts[i - 1] + (ts[i] - ts[i - 1]) * a[i - 1] / (a[i - 1] - a[i]))


def mean_ranks(scores: pd.DataFrame) -> pd.Series:
    """Mean rank of each method (column) over datasets (rows), 1 the best."""
    _check_complete(scores)
    ranks = scores.round(12).rank(axis=1, ascending=False)  # or rounding breaks ties
    return ranks.mean().sort_values(kind="stable")


def friedman(scores: pd.DataFrame) -> float:
    """p-value of the test that all methods (columns) are alike over datasets (rows)."""
    from scipy.stats import friedmanchisquare

    _check_complete(scores)
    if len(scores.columns) < 3 or len(scores) < 2:
        raise InputError("the Friedman test needs at least three methods and two datasets")
    with np.errstate(invalid="ignore"):
        p = friedmanchisquare(*(scores[name] for name in scores)).pvalue
    return 1.0 if np.isnan(p) else float(p)  # nan: all methods tie on every dataset


def wilcoxon_holm(scores: pd.DataFrame) -> pd.DataFrame:
    """Holm-adjusted p-values of the pairwise Wilcoxon signed-rank tests over datasets (rows)."""
    from scikit_posthocs import posthoc_wilcoxon

    _check_complete(scores)
    long = scores.melt(var_name="algorithm", value_name="score")
    p = posthoc_wilcoxon(
        long, val_col="score", group_col="algorithm", p_adjust="holm", zero_method="zsplit"
    )
    return cast(pd.DataFrame, p.loc[scores.columns, scores.columns])


def _check_complete(scores: pd.DataFrame) -> None:
    if scores.isna().any(axis=None):
        raise InputError("a comparison needs a score of every method on every dataset")
