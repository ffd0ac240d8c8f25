"""THE rule by which numbers of tasks become one number with an interval.

With T tasks, of dataset d and seed s: z_ds = sum over the tasks of d of x_(task, s) / T, over the
seeds that all tasks of d share (n_d of them); v_d = var(z_d) / n_d. The mean over tasks is the sum
of the means of z_d, its variance the sum of v_d, and its degrees of freedom, after Welch and
Satterthwaite, (sum v_d)^2 / sum(v_d^2 / (n_d - 1)).

Seed k of one dataset has nothing to do with seed k of another, so seeds are paired within a dataset
only. The interval is over seeds, on these tasks: it does not speak of other tasks. The pages
compute the same rule in `sites/static/rule.js`; a test compares the two.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.analysis.interval import (
    IDENTICAL,
    NO_INTERVAL,
    Array,
    Interval,
    Ties,
    check_level,
    scalar,
    student,
)
from robustssl.errors import InputError

_SAME = 1e-24  # a variance below is rounding


@dataclass(frozen=True, eq=False)
class Part:
    """What a task adds to a mean over tasks: values (seeds, ...), one for each of its seeds.

    `dataset` is the name by which its rows are drawn: one dataset under two encoders is one.
    Differences are taken, metrics read (as pseudo-values) and ranks given before, by task and seed.
    """

    dataset: str
    seeds: tuple[Any, ...]
    values: Array
    ties: Ties | None = None


def over_tasks(
    parts: Sequence[Part],
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """The mean over tasks and its interval over seeds; none where a dataset has fewer than two
    seeds that all of its tasks share.
    """
    check_level(level)
    centre, variance, df = _moments(parts)
    half = student(df, level) * np.sqrt(variance)
    low, high, note = centre - half, centre + half, np.full(centre.shape, "", object)
    equal = variance <= _SAME
    if equal.any():
        ends, reason = _tied_ends(parts, level)
        low, high = (np.where(equal, end, x) for end, x in zip(ends, (low, high), strict=True))
        note = np.where(equal & np.isnan(low), reason, "")
    found = (np.clip(part, *bounds) for part in (centre, low, high))
    return Interval(*map(scalar, (*found, centre, note)))


def p_value(parts: Sequence[Part]) -> Any:
    """p-value of the test that the mean over tasks is 0, by the moments that give the interval: it
    is below 0.05 where the interval of level 0.95 leaves out 0. nan where seeds do not move it.
    """
    from scipy.special import stdtr

    centre, variance, df = _moments(parts)
    moved = np.where(variance > _SAME, variance, np.nan)
    return scalar(2 * stdtr(df, -np.abs(centre) / np.sqrt(moved)))


def holm(ps: Sequence[float], level: float = 0.05) -> npt.NDArray[np.bool_]:
    """Which of several hypotheses are rejected after Holm's correction; nan never is."""
    values = np.nan_to_num(np.asarray(ps, float), nan=1.0)
    order = np.argsort(values, kind="stable")
    rejected = np.empty(len(values), bool)
    small = values[order] <= level / np.arange(len(values), 0, -1)
    rejected[order] = np.logical_and.accumulate(small)
    return rejected


def leave_one_out(parts: Sequence[Part]) -> tuple[float, float] | None:
    """The least and the largest mean when one dataset is left out; None where there is one only."""
    names = {part.dataset for part in parts}
    if len(names) < 2:
        return None
    means = [
        float(over_tasks([part for part in parts if part.dataset != name]).estimate)
        for name in names
    ]
    return min(means), max(means)


def ranks(values: Array) -> Array:
    """Ranks of methods (methods, seeds, ...) within each seed, 1 for the highest; ties share the
    mean of their ranks.
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(-np.round(values, 12), axis=0), float)


def _moments(parts: Sequence[Part]) -> tuple[Array, Array, Array]:
    """The mean over tasks, its variance over seeds, and the degrees of freedom of that."""
    if not parts:
        raise InputError("a mean over tasks needs at least one task")
    sums = [_sum(group) / len(parts) for group in _by_dataset(parts)]
    centre = np.asarray(sum(z.mean(0) for z in sums))
    if any(len(z) < 2 for z in sums):
        unknown = np.full_like(centre, np.nan)
        return centre, unknown, unknown
    spreads = np.stack([z.var(0, ddof=1) / len(z) for z in sums])
    free = np.array([len(z) - 1.0 for z in sums]).reshape(-1, *[1] * centre.ndim)
    variance = np.asarray(spreads.sum(0))
    with np.errstate(invalid="ignore"):
        return centre, variance, np.asarray(variance**2 / (spreads**2 / free).sum(0))


def _by_dataset(parts: Iterable[Part]) -> list[list[Part]]:
    found: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        found[part.dataset].append(part)
    return list(found.values())


def _sum(group: Sequence[Part]) -> Array:
    """The sum over the tasks of a dataset, by shared seed; of the means where they share none."""
    shared = [seed for seed in group[0].seeds if all(seed in part.seeds for part in group)]
    if not shared:
        return np.asarray(sum(part.values.mean(0) for part in group))[None]
    return np.asarray(sum(part.values[[*map(part.seeds.index, shared)]] for part in group))


def _tied_ends(parts: Sequence[Part], level: float) -> tuple[tuple[Array, Array], str]:
    """Where no seed moves any task: the means of the ends of the tasks' own intervals."""
    ends = [(part.ties or Ties()).limits(part.values.mean(0), level) for part in parts]
    identical = all(part.ties is not None and np.all(part.ties.identical) for part in parts)
    low, high = (np.asarray(np.mean([pair[k] for pair in ends], axis=0)) for k in (0, 1))
    return (low, high), IDENTICAL if identical else NO_INTERVAL
