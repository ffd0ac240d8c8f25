"""What a gain is worth in labels: how many further ones would have bought the baseline the same.

The learning curve of the baseline is the mean over seeds of its scores at several label counts,
made to rise by isotonic regression, and linear in log2 of the count between them. A gain g at n
labels a class is worth L - n, where the curve at L is its value at n plus g. So no gain is worth
nothing, and where the means rise by themselves L is where the curve reaches the method's score.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl.analysis.candidates import PLACE, expected
from robustssl.analysis.density import BELIEF, Belief
from robustssl.analysis.interval import Array, student
from robustssl.analysis.labels import Labels
from robustssl.errors import InputError

_FINE = 2048  # points of the curve at which the interval is asked for


def worth_of(
    gains: Array, curves: Array, counts: Sequence[int], held: int, level: float = 0.95
) -> Labels:
    """What gains (seeds,) at `held` labels a class are worth by the baseline's scores (seeds,
    counts).

    The interval holds each number of labels of which the seeds leave open whether the curve has
    reached the score there: the whole difference, isotonic curve and all, is jackknifed over seeds.
    """
    x = np.log2(np.asarray(counts, float))
    if len(x) < 2 or held not in counts or (np.diff(x) <= 0).any():
        raise InputError("a learning curve needs two label counts that rise, one of them the own")
    own = np.log2(held)
    grid = np.union1d(np.linspace(x[0], x[-1], _FINE), x)
    n = len(gains)

    def lacking(kept: npt.NDArray[np.intp]) -> Array:
        """By how much the curve of some seeds lies below the score."""
        curve = _rising(curves[kept].mean(0))
        score = np.interp(own, x, curve) + gains[kept].mean()
        return np.asarray(score - np.interp(grid, x, curve))

    every = np.arange(n)
    plain = lacking(every)
    low = high = np.nan
    if n > 1:
        pseudo = np.stack([n * plain - (n - 1) * lacking(every[every != k]) for k in every])
        half = student(n - 1, level) * pseudo.std(0, ddof=1) / np.sqrt(n)
        if (half > 0).any():
            low, high = _open(grid, pseudo.mean(0) - half, pseudo.mean(0) + half)
    at = _reached(grid, plain, own)
    if not np.isnan(low):
        low, high = min(low, at), max(high, at)
    estimate, low, high, least, most = (
        2.0**end - held if np.isfinite(end) else end for end in (at, low, high, x[0], x[-1])
    )
    return Labels(estimate, low, high, least, most)


def _rising(means: Array) -> Array:
    from sklearn.isotonic import isotonic_regression

    return np.asarray(isotonic_regression(means), float)


def _reached(grid: Array, lacking: Array, own: float) -> float:
    """Where nothing is lacking any more; of a flat part the point that is nearest to the own."""
    left, right = np.flatnonzero(lacking > 1e-12), np.flatnonzero(lacking < -1e-12)
    if len(left) == len(grid):
        return np.inf
    if len(right) == len(grid):
        return -np.inf
    level = np.flatnonzero(np.abs(lacking) <= 1e-12)
    if len(level):
        return float(np.clip(own, grid[level[0]], grid[level[-1]]))
    return float(np.interp(0, -lacking, grid))


def _open(grid: Array, low: Array, high: Array) -> tuple[float, float]:
    """The first and the last point at which the interval of what is lacking holds 0."""
    maybe, still = np.flatnonzero(low <= 0), np.flatnonzero(high >= 0)
    first = np.inf if not len(maybe) else -np.inf if maybe[0] == 0 else grid[maybe[0]]
    last = -np.inf if not len(still) else np.inf if still[-1] == len(grid) - 1 else grid[still[-1]]
    return float(first), float(last)


def worth(
    chosen: pd.DataFrame,
    belief: Belief = BELIEF,
    *,
    classes: Mapping[tuple[str, str], int] | None = None,
) -> pd.DataFrame:
    """What the gain of each method on each task is worth, of records that one rule chose, by the
    learning curve of its baseline in the same environment and dataset, over the seeds that all of
    them have; tasks whose baseline has one label count only are left out.

    Scores are expected accuracies. `classes` gives for an environment and dataset the number of
    known classes; where it is not said, labels are told a class.
    """
    values = scores_by_seed(chosen, belief)
    baselines = chosen.drop_duplicates(["method", *PLACE]).set_index(["method", *PLACE]).baseline
    rows = []
    for place, baseline in baselines.dropna().items():
        _, environment, dataset, labels = place
        curve = learning_curve(values, baseline, environment, dataset)
        if labels in curve.index and place in values.index:
            gains = values.loc[place] - curve.loc[labels]
            found = priced(gains, curve, labels, (classes or {}).get((environment, dataset)))
            if found is not None:
                rows.append((*place, baseline, found))
    return pd.DataFrame(rows, columns=["method", *PLACE, "baseline", "worth"])


def priced(
    gains: "pd.Series", curve: pd.DataFrame, held: int, classes: int | None
) -> Labels | None:
    """What gains by seed are worth by a learning curve, over the seeds that all of it has; None
    where there is no such seed, or no other label count.
    """
    seeds = curve.dropna(axis=1).columns.intersection(gains.dropna().index)
    if seeds.empty or len(curve) < 2 or held not in curve.index:
        return None
    found = worth_of(gains[seeds].to_numpy(), curve[seeds].to_numpy().T, [*curve.index], held)
    return found.times(classes) if classes else found


def scores_by_seed(chosen: pd.DataFrame, belief: Belief) -> pd.DataFrame:
    """Expected accuracies by method and task (rows) and seed (columns)."""
    return expected(chosen, ["method", *PLACE, "seed"], belief).unstack("seed")


def learning_curve(
    values: pd.DataFrame, method: str, environment: str, dataset: str
) -> pd.DataFrame:
    """Of scores by method and task (rows) and seed (columns), those of a method in an environment
    and dataset, by rising label count.
    """
    if (method, environment, dataset) not in values.index.droplevel("labels"):
        return values[:0].droplevel(["method", "environment", "dataset"])
    part = values.xs((method, environment, dataset), level=["method", "environment", "dataset"])
    return part.sort_index()
