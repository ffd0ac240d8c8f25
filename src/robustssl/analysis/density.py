"""Expected accuracy when t has a density: the weights that it gives to the points of a grid."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from robustssl.analysis.interval import Array
from robustssl.analysis.metrics import Metric, check_grid
from robustssl.errors import InputError


@dataclass(frozen=True)
class Belief:
    """What is believed about t before it is known: that it is distributed as Beta(a, b)."""

    a: float = 2
    b: float = 5

    def __post_init__(self) -> None:
        if not (0 < self.a < np.inf and 0 < self.b < np.inf):
            raise InputError(f"a belief needs two numbers above 0, got {self.a:g} and {self.b:g}")

    def __str__(self) -> str:
        return f"Beta({self.a:g}, {self.b:g})"

    def weights(self, ts: Iterable[float]) -> dict[float, float]:
        """The weight of each point of a grid that holds 0 and 1."""
        return _weights(self, tuple(sorted(ts)))


BELIEF = Belief()
ALIKE = Belief(1, 1)  # all t alike


@lru_cache
def _weights(belief: Belief, ts: tuple[float, ...]) -> dict[float, float]:
    from scipy import stats

    weights = hat_weights(check_grid(ts), stats.beta(belief.a, belief.b))
    return dict(zip(ts, weights.tolist(), strict=True))


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
