"""The Robustness Analysis Curve (RAC): the score of a learner as a function of the inconsistency t.

Metrics (`robustssl.analysis.metrics`) are vectorised, so one `Curve` may hold many curves on one
grid: scores are (..., seeds, T).
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from robustssl.analysis.density import expected_accuracy
from robustssl.analysis.interval import ROUGH, Array, Interval, Ties, scalar, student_interval
from robustssl.analysis.metrics import Metric, check_grid, metrics_of
from robustssl.errors import InputError, unknown


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores over the grid of t, one row per seed; leading dimensions, if any, are many curves.

    `bounds` are those of the score. Left out, they are (0, 1) if all scores lie there, else none.
    `ties` give an interval where all seeds agree; without them there is none.
    """

    ts: Array
    scores: Array
    bounds: tuple[float, float] | None = field(default=None, kw_only=True)
    ties: Ties | None = field(default=None, kw_only=True)
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
        return {name: scalar(f(self.ts, scores)) for name, f in metrics_of(convention).items()}

    def ea(self, P: Any) -> Any:
        """Expected accuracy when t is distributed as P (see `expected_accuracy`).

        Values of P stand in the order in which `ts` was given.
        """
        if np.ndim(P) == 1 and len(P) == len(self.ts):
            P = np.asarray(P)[self._order]
        return scalar(expected_accuracy(P)(self.ts, self.mean))

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
        metric = _metric(metric, convention)
        n, plain = self.seeds, metric(self.ts, self.mean)
        values = metric(self.ts, self.scores) if per_seed else self.pseudo_values(metric)
        found = student_interval(values, level, self._bounds(metric), plain, self._ties(metric))
        if metric.is_rough is None or per_seed or n == 1:
            return found
        rough = ~np.isnan(found.low) & metric.is_rough(self.scores)
        return replace(found, note=scalar(np.where(rough, ROUGH, found.note)))

    def pseudo_values(self, metric: str | Metric, *, convention: str = "definition") -> Array:
        """Jackknife pseudo-values (..., seeds) of the metric of the mean curve: what each seed adds
        to it. Those of a linear metric are the seeds' own values.
        """
        metric, n = _metric(metric, convention), self.seeds
        if n == 1:
            return metric(self.ts, self.scores)
        others = (self.scores.sum(-2, keepdims=True) - self.scores) / (n - 1)
        return n * metric(self.ts, self.mean)[..., None] - (n - 1) * metric(self.ts, others)

    def _bounds(self, metric: Metric) -> tuple[float, float]:
        return cast(tuple[float, float], self.bounds if metric.range is None else metric.range)

    def _ties(self, metric: Metric) -> Ties | None:
        """Those of a metric in units of the score; of another, equal seeds tell nothing."""
        return self.ties if metric.range is None else None

    def intervals(self, convention: str = "definition", level: float = 0.95) -> dict[str, Interval]:
        names = metrics_of(convention)
        return {name: self.interval(name, level, convention=convention) for name in names}

    def band(self, level: float = 0.95) -> tuple[Array, Array]:
        """Student's interval for the mean at each point of the grid, inside the score's bounds."""
        bounds = cast(tuple[float, float], self.bounds)
        band = student_interval(np.swapaxes(self.scores, -1, -2), level, bounds, ties=self.ties)
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
            return {name: scalar(np.full(self.scores.shape[:-2], np.nan)) for name in names}
        if n <= 11:  # flipping all seeds at once changes nothing, so half suffices
            signs = np.array([(1, *rest) for rest in product((1, -1), repeat=n - 1)], float)
        else:
            signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(1024, n))
        residuals = (self.scores - self.mean[..., None, :]) * np.sqrt(n / (n - 1))
        noise = signs @ residuals / n
        return {name: scalar(table[name](self.ts, noise).mean(-1)) for name in names}

    def dependence(self, draws: int = 2000, random_state: int = 0) -> Any:
        """p-value of "the score does not depend on t": t permuted within each seed.

        The statistic is the variance over t of the mean curve. One seed cannot tell (nan).
        """
        if self.seeds == 1:
            return scalar(np.full(self.scores.shape[:-2], np.nan))
        seeds, points = self.scores.shape[-2:]
        order = _orders(draws, seeds, points, random_state)
        curves = self.scores.reshape(-1, seeds, points)
        rows = np.arange(seeds)[:, None]
        p = np.empty(len(curves))
        for i, scores in enumerate(curves):
            observed = scores.mean(0).var()
            permuted = scores[rows, order].mean(1).var(-1)
            p[i] = (1 + (permuted >= observed * (1 - 1e-9)).sum()) / (1 + draws)
        return scalar(p.reshape(self.scores.shape[:-2]))


@lru_cache(maxsize=4)
def _orders(draws: int, seeds: int, points: int, random_state: int) -> npt.NDArray[np.intp]:
    """Random orders of the points, one for each draw and seed."""
    rng = np.random.default_rng(random_state)
    return rng.permuted(np.tile(np.arange(points), (draws, seeds, 1)), axis=-1)


def _metric(metric: str | Metric, convention: str) -> Metric:
    """The metric of that name."""
    if not isinstance(metric, str):
        return metric
    table = metrics_of(convention)
    if metric not in table:
        raise unknown("metric", metric, table)
    return table[metric]
