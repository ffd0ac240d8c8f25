"""The numbers that are read from a Robustness Analysis Curve (RAC).

A metric is a function of the grid `ts` (T,) and of scores (..., T); it returns (...). All are exact
for the curve that is linear between the grid points, and all are vectorised.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from robustssl.analysis.interval import Array, student_interval
from robustssl.errors import InputError, unknown

Function = Callable[[Array, Array], Array]

GRID = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def _auc(ts: Array, a: Array) -> Array:
    return cast(Array, np.trapezoid(a, ts, axis=-1))


def _start(ts: Array, a: Array) -> Array:
    return a[..., 0]


def _worst(ts: Array, a: Array) -> Array:
    return cast(Array, a.min(-1))


def _variation(ts: Array, a: Array) -> Array:
    return cast(Array, np.abs(np.diff(a)).sum(-1))


def _slope_variance(ts: Array, a: Array) -> Array:
    h = np.diff(ts)
    mean = (a[..., -1:] - a[..., :1]) / (ts[-1] - ts[0])
    return cast(Array, (h * (np.diff(a) / h - mean) ** 2).sum(-1))


def _correlation(ts: Array, a: Array) -> Array:
    """cov(t, A) / (sd(t) sd(A)) for t uniform on [0, 1]; undefined (nan) where A is flat."""
    a = _unit_range(a)
    a = a - _auc(ts, a)[..., None]
    h, t0, t1, a0, a1 = np.diff(ts), ts[:-1], ts[1:], a[..., :-1], a[..., 1:]
    covariance = (h * (t0 * (2 * a0 + a1) + t1 * (a0 + 2 * a1))).sum(-1) / 6
    variance = (h * (a0**2 + a0 * a1 + a1**2)).sum(-1) / 3
    return cast(Array, np.clip(covariance / np.sqrt(variance / 12), -1, 1))


def _point_correlation(ts: Array, a: Array) -> Array:
    a = _unit_range(a)
    a, t = a - a.mean(-1, keepdims=True), ts - ts.mean()
    correlation = (t * a).sum(-1) / np.sqrt((t**2).sum() * (a**2).sum(-1))
    return cast(Array, np.clip(correlation, -1, 1))


def _unit_range(a: Array) -> Array:
    """The curve from 0 to 1; nan where it is flat, up to the rounding of a mean over seeds."""
    low, spread = a.min(-1, keepdims=True), np.ptp(a, axis=-1, keepdims=True)
    flat = spread <= 1e-12 * np.abs(a).max(-1, keepdims=True)
    return np.where(flat, np.nan, (a - low) / np.where(flat, 1, spread))


def _mean(ts: Array, a: Array) -> Array:
    return cast(Array, a.mean(-1))


def _mean_step(ts: Array, a: Array) -> Array:
    return cast(Array, np.abs(np.diff(a)).mean(-1))


def _step_deviation(ts: Array, a: Array) -> Array:
    return cast(Array, np.diff(a).std(-1))


def _least_squares_slope(ts: Array, a: Array) -> Array:
    t = ts - ts.mean()
    return cast(Array, (t * a).sum(-1) / (t**2).sum())


def _global_magnitude(ts: Array, a: Array) -> Array:
    return cast(Array, np.abs(a - a.mean(-1, keepdims=True)).sum(-1))


def _largest_slope(ts: Array, a: Array) -> Array:
    return cast(Array, (np.diff(a) / np.diff(ts)).max(-1))


def _smallest_slope(ts: Array, a: Array) -> Array:
    return cast(Array, (np.diff(a) / np.diff(ts)).min(-1))


def _share_rising(ts: Array, a: Array) -> Array:
    return cast(Array, (np.diff(a) >= 0).mean(-1))


def _has_flat_step(scores: Array) -> npt.NDArray[np.bool_]:
    """Whether the seeds (..., seeds, T) leave open which way a step goes, where |step| bends."""
    return np.asarray(_holds_zero(np.diff(scores)).any(-1))


def _has_rival_worst(scores: Array) -> npt.NDArray[np.bool_]:
    """Whether the seeds leave open at which t the mean curve is lowest."""
    worst = scores.mean(-2).argmin(-1)[..., None, None]
    return np.asarray(_holds_zero(scores - np.take_along_axis(scores, worst, -1)).sum(-1) > 0)


def _holds_zero(differences: Array) -> npt.NDArray[np.bool_]:
    """Where a difference (..., seeds, k) that is not 0 for all seeds has a 95% interval with 0."""
    found = student_interval(np.swapaxes(differences, -1, -2))
    clear = (np.asarray(found.low) > 0) | (np.asarray(found.high) < 0)
    return np.asarray((differences != 0).any(-2) & ~clear)


@dataclass(frozen=True)
class Metric:
    """A function of a curve, and the range its values keep (None: that of the scores).

    `is_rough` says of which scores (..., seeds, T) its interval may cover less often than it says:
    the jackknife needs a smooth function, and |step| and min are not where the seeds leave open
    which side of the bend a curve is on.
    """

    function: Function
    range: tuple[float, float] | None = (-np.inf, np.inf)
    is_rough: Callable[[Array], npt.NDArray[np.bool_]] | None = None

    def __call__(self, ts: Array, scores: Array) -> Array:
        return self.function(ts, scores)


_POSITIVE = (0.0, np.inf)

# `definition`: the integrals; `published`: as the code behind the published tables computes them,
# over the points; `re-ssl`: the five numbers of the study of unseen classes of that name, likewise.
CONVENTIONS: Mapping[str, Mapping[str, Metric]] = {
    "definition": {
        "AUC": Metric(_auc, None),
        "Acc0": Metric(_start, None),
        "WA": Metric(_worst, None, _has_rival_worst),
        "EVM": Metric(_variation, _POSITIVE, _has_flat_step),
        "VS": Metric(_slope_variance, _POSITIVE),
        "RCC": Metric(_correlation, (-1.0, 1.0)),
    },
    "published": {
        "AUC": Metric(_mean, None),
        "Acc0": Metric(_start, None),
        "WA": Metric(_worst, None, _has_rival_worst),
        "EVM": Metric(_mean_step, _POSITIVE, _has_flat_step),
        "VS": Metric(_step_deviation, _POSITIVE),
        "RCC": Metric(_point_correlation, (-1.0, 1.0)),
    },
    "re-ssl": {
        "slope": Metric(_least_squares_slope),
        "GM": Metric(_global_magnitude, _POSITIVE),
        "BAD": Metric(_largest_slope),
        "WAD": Metric(_smallest_slope),
        "P(AD>=0)": Metric(_share_rising, (0.0, 1.0)),
    },
}


def metrics_of(convention: str) -> Mapping[str, Metric]:
    if convention not in CONVENTIONS:
        raise unknown("convention", convention, CONVENTIONS)
    return CONVENTIONS[convention]


def check_grid(ts: npt.ArrayLike) -> Array:
    """The grid as floats of 6 decimals, or the reason why it is none."""
    grid = np.round(np.asarray(ts, float), 6)
    if grid.ndim != 1 or not np.isfinite(grid).all():
        raise InputError("the grid of t must be a list of numbers")
    outside = grid[(grid < 0) | (grid > 1)]
    if outside.size:
        raise InputError(f"t must lie between 0 and 1, got {outside[0]:g}")
    if len(set(grid)) < len(grid):
        raise InputError("the grid of t holds a value twice")
    lacking = [f"{end:g}" for end in (0, 1) if end not in grid]
    if lacking:
        raise InputError(f"the grid of t must hold 0 and 1; it lacks {' and '.join(lacking)}")
    return grid
