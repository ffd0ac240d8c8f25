"""The Robustness Analysis Curve (RAC): the score of a learner as a function of the inconsistency t.

A metric is a function of the grid `ts` (T,) and of scores (..., T); it returns (...). All are exact
for the curve that is linear between the grid points, and all are vectorised, so one `Curve` may
hold many curves on one grid: scores are (..., seeds, T).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from robustssl.errors import InputError, unknown

Array = npt.NDArray[np.float64]
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


@dataclass(frozen=True)
class Metric:
    """A function of a curve, and the range its values keep (None: that of the scores)."""

    function: Function
    range: tuple[float, float] | None = (-np.inf, np.inf)

    def __call__(self, ts: Array, scores: Array) -> Array:
        return self.function(ts, scores)


_POSITIVE = (0.0, np.inf)

# `definition`: the integrals; `published`: as the code behind the published tables computes them,
# over the points; `re-ssl`: the five numbers of the study of unseen classes of that name, likewise.
CONVENTIONS: Mapping[str, Mapping[str, Metric]] = {
    "definition": {
        "AUC": Metric(_auc, None),
        "Acc0": Metric(_start, None),
        "WA": Metric(_worst, None),
        "EVM": Metric(_variation, _POSITIVE),
        "VS": Metric(_slope_variance, _POSITIVE),
        "RCC": Metric(_correlation, (-1.0, 1.0)),
    },
    "published": {
        "AUC": Metric(_mean, None),
        "Acc0": Metric(_start, None),
        "WA": Metric(_worst, None),
        "EVM": Metric(_mean_step, _POSITIVE),
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
        raise InputError(f"t = {outside[0]:g} lies outside [0, 1]")
    if len(set(grid)) < len(grid):
        raise InputError("the grid of t holds a value twice")
    lacking = [f"{end:g}" for end in (0, 1) if end not in grid]
    if lacking:
        raise InputError(f"the grid of t must hold 0 and 1; it lacks {' and '.join(lacking)}")
    return grid


@dataclass(frozen=True)
class Interval:
    """A number and where it may lie; `plain` is the metric of the mean curve before bias
    correction.
    """

    estimate: Any
    low: Any
    high: Any
    plain: Any


def _scalar(value: Array) -> Any:
    return float(value) if np.ndim(value) == 0 else value


def student_interval(
    values: Array, level: float, bounds: tuple[float, float], plain: Array | None = None
) -> Interval:
    """Student's interval for the mean over the last axis, inside the bounds; one value has none."""
    from scipy.special import stdtrit

    if not 0 < level < 1:
        raise InputError(f"a level lies between 0 and 1, unlike {level:g}")
    n, centre = values.shape[-1], values.mean(-1)
    if n > 1:
        half = stdtrit(n - 1, (1 + level) / 2) * values.std(-1, ddof=1) / np.sqrt(n)
    else:
        half = np.full_like(centre, np.nan)
    parts = (np.clip(part, *bounds) for part in (centre, centre - half, centre + half))
    whole = (*parts, centre if plain is None else plain)
    return Interval(*map(_scalar, whole))


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores over the grid of t, one row per seed; leading dimensions, if any, are many curves.

    `bounds` are those of the score. Left out, they are (0, 1) if all scores lie there, else none.
    """

    ts: Array
    scores: Array
    bounds: tuple[float, float] | None = field(default=None, kw_only=True)
    _order: npt.NDArray[np.intp] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ts, scores = check_grid(self.ts), np.atleast_2d(np.asarray(self.scores, float))
        if scores.shape[-1] != len(ts):
            raise InputError(f"{len(ts)} values of t, but {scores.shape[-1]} scores")
        if scores.shape[-2] == 0:
            raise InputError("a curve needs at least one seed")
        bad = np.argwhere(~np.isfinite(scores))
        if len(bad):
            place = f"t = {ts[bad[0][-1]]:g}, row {bad[0][-2]}"
            raise InputError(f"the scores hold a value that is not finite (at {place})")
        low, high = (0.0, 1.0) if self.bounds is None else self.bounds
        inside = bool(((scores >= low) & (scores <= high)).all())
        if self.bounds is not None and not inside:
            raise InputError(f"scores lie outside their bounds [{low:g}, {high:g}]")
        order = np.argsort(ts)
        object.__setattr__(self, "_order", order)
        object.__setattr__(self, "ts", ts[order])
        object.__setattr__(self, "scores", scores[..., order])
        object.__setattr__(self, "bounds", (low, high) if inside else (-np.inf, np.inf))

    @property
    def seeds(self) -> int:
        return int(self.scores.shape[-2])

    @property
    def mean(self) -> Array:
        return cast(Array, self.scores.mean(-2))

    def to_pandas(self) -> Any:
        """A row for each t: the mean, its 95% band, and the score of every seed."""
        import pandas as pd

        low, high = self.band()
        points = {"t": self.ts, "mean": self.mean, "low": low, "high": high}
        return pd.DataFrame({**points, **{f"seed {k}": row for k, row in enumerate(self.scores)}})

    def _repr_html_(self) -> str:
        numbers = ", ".join(f"{name} {value:.3f}" for name, value in self.metrics().items())
        return f"<p>{numbers}</p>{self.to_pandas().to_html(index=False, float_format='%.3f')}"

    def metrics(self, convention: str = "definition", *, per_seed: bool = False) -> dict[str, Any]:
        """All metrics of the mean curve, or of each seed's own curve."""
        scores = self.scores if per_seed else self.mean
        return {name: _scalar(f(self.ts, scores)) for name, f in metrics_of(convention).items()}

    def ea(self, P: Any) -> Any:
        """Expected accuracy when t is distributed as P (see `expected_accuracy`).

        Values of P stand in the order in which `ts` was given.
        """
        if np.ndim(P) == 1 and len(P) == len(self.ts):
            P = np.asarray(P)[self._order]
        return _scalar(expected_accuracy(P)(self.ts, self.mean))

    def interval(
        self,
        metric: str | Metric,
        level: float = 0.95,
        *,
        convention: str = "definition",
        per_seed: bool = False,
    ) -> Interval:
        """A confidence interval over seeds, for the metric of the mean curve or the mean of the
        seeds' own.

        The leave-one-seed-out jackknife with Student's t; its estimate is bias-corrected. Both are
        kept inside the metric's range. One seed has no interval.
        """
        if isinstance(metric, str):
            table = metrics_of(convention)
            if metric not in table:
                raise unknown("metric", metric, table)
            metric = table[metric]
        n, plain = self.seeds, metric(self.ts, self.mean)
        values = metric(self.ts, self.scores)
        if not per_seed and n > 1:
            others = (self.scores.sum(-2, keepdims=True) - self.scores) / (n - 1)
            values = n * plain[..., None] - (n - 1) * metric(self.ts, others)
        bounds = cast(tuple[float, float], self.bounds if metric.range is None else metric.range)
        return student_interval(values, level, bounds, plain)

    def intervals(self, convention: str = "definition", level: float = 0.95) -> dict[str, Interval]:
        names = metrics_of(convention)
        return {name: self.interval(name, level, convention=convention) for name in names}

    def band(self, level: float = 0.95) -> tuple[Array, Array]:
        """Student's interval for the mean at each point of the grid, inside the score's bounds."""
        bounds = cast(tuple[float, float], self.bounds)
        band = student_interval(np.swapaxes(self.scores, -1, -2), level, bounds)
        return band.low, band.high

    def noise_floor(self, convention: str = "definition") -> dict[str, Any]:
        """What EVM and VS would show if only the seeds moved the mean curve.

        The metric of the residuals under sign flips of whole seeds, averaged over all flips (or
        over 1,024 random ones where there are more): chance is left as it is, the common movement
        is gone.
        """
        n, table = self.seeds, metrics_of(convention)
        names = [name for name in ("EVM", "VS") if name in table]
        if n == 1:
            return {name: _scalar(np.full(self.scores.shape[:-2], np.nan)) for name in names}
        if n <= 11:  # flipping all seeds at once changes nothing, so half suffices
            signs = np.array([(1, *rest) for rest in product((1, -1), repeat=n - 1)], float)
        else:
            signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(1024, n))
        residuals = (self.scores - self.mean[..., None, :]) * np.sqrt(n / (n - 1))
        noise = signs @ residuals / n
        return {name: _scalar(table[name](self.ts, noise).mean(-1)) for name in names}

    def dependence(self, draws: int = 2000, random_state: int = 0) -> Any:
        """p-value of "the score does not depend on t": t permuted within each seed.

        The statistic is the variance over t of the mean curve. One seed cannot tell (nan).
        """
        if self.seeds == 1:
            return _scalar(np.full(self.scores.shape[:-2], np.nan))
        rng = np.random.default_rng(random_state)
        seeds, points = self.scores.shape[-2:]
        order = rng.permuted(np.tile(np.arange(points), (draws, seeds, 1)), axis=-1)
        curves = self.scores.reshape(-1, seeds, points)
        rows = np.arange(seeds)[:, None]
        p = np.empty(len(curves))
        for i, scores in enumerate(curves):
            observed = scores.mean(0).var()
            permuted = scores[rows, order].mean(1).var(-1)
            p[i] = (1 + (permuted >= observed * (1 - 1e-9)).sum()) / (1 + draws)
        return _scalar(p.reshape(self.scores.shape[:-2]))


def expected_accuracy(P: Any) -> Metric:
    """EA(P): the integral of P A, for a density P of t on [0, 1], normalised.

    P is a frozen scipy.stats distribution, a callable, or values on the grid (a density linear
    between).
    """
    return Metric(lambda ts, scores: scores @ hat_weights(ts, P), None)


def hat_weights(ts: Array, P: Any) -> Array:
    """The integrals of P times the hat function of each grid point, summing to 1."""
    from scipy.stats import rv_discrete

    if isinstance(getattr(P, "dist", None), rv_discrete):
        raise InputError("P must have a density; a discrete distribution has none")
    if hasattr(P, "cdf"):
        left, right = _segments_of_distribution(ts, P)
    elif callable(P):
        left, right = _segments_of_callable(ts, P)
    else:
        left, right = _segments_of_values(ts, P)
    weights = np.append(left, 0) + np.append(0, right)
    mass = weights.sum()
    if not np.isfinite(mass) or mass <= 1e-300:
        raise InputError("P has no mass on [0, 1], or an infinite one")
    return cast(Array, weights / mass)


def _segments_of_distribution(ts: Array, P: Any) -> tuple[Array, Array]:
    """By parts, so that only the bounded distribution function is integrated, never a density's
    pole.
    """
    from scipy.integrate import quad

    try:
        F = np.array([P.cdf(t) for t in ts], float)
    except TypeError as error:
        raise InputError(
            "P lacks its parameters: write stats.beta(2, 5), not stats.beta"
        ) from error
    mean = [quad(P.cdf, a, b, epsabs=1e-13, limit=500)[0] / (b - a) for a, b in pairwise(ts)]
    return np.asarray(mean) - F[:-1], F[1:] - np.asarray(mean)


def _segments_of_callable(ts: Array, P: Callable[[float], float]) -> tuple[Array, Array]:
    from scipy.integrate import quad

    def density(t: float) -> float:
        value = float(P(t))
        if not value >= 0:
            raise InputError(f"P is a density and cannot be {value:g} (at t = {t:g})")
        return value

    def integral(f: Callable[[float], float], a: float, b: float) -> float:
        pieces = pairwise(np.linspace(a, b, 17))  # so that a narrow peak is not overlooked
        return float(sum(quad(f, c, d, epsabs=1e-14, limit=500)[0] for c, d in pieces))

    pairs = list(pairwise(ts))
    left = [integral(lambda t, a=a, b=b: density(t) * (b - t) / (b - a), a, b) for a, b in pairs]  # type: ignore[misc]
    right = [integral(lambda t, a=a, b=b: density(t) * (t - a) / (b - a), a, b) for a, b in pairs]  # type: ignore[misc]
    return np.array(left), np.array(right)


def _segments_of_values(ts: Array, P: npt.ArrayLike) -> tuple[Array, Array]:
    try:
        p = np.asarray(P, float)
    except (TypeError, ValueError) as error:
        raise InputError(f"P is no density: {error}") from error
    if p.shape != ts.shape:
        raise InputError(f"P has {p.size} values for a grid of {len(ts)}")
    if not (p >= 0).all():
        raise InputError("P is a density and cannot be negative")
    h = np.diff(ts)
    return h * (2 * p[:-1] + p[1:]) / 6, h * (p[:-1] + 2 * p[1:]) / 6
