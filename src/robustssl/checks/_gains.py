"""The contracts of an algorithm against its baseline: on data made for unlabeled rows it is not
worse, and on consistent rows of several kinds a deep method does not collapse.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.stats import t as student_t

from robustssl import registry
from robustssl.checks._contracts import BrokenContractError, require
from robustssl.checks._learner import Learner
from robustssl.checks._toys import ToyData, blobs
from robustssl.checks._worlds import WORLDS
from robustssl.errors import InputError

SEEDS, MARGIN = 20, 0.01
COLLAPSE_SEEDS, COLLAPSE = 10, 0.05

Draw = Callable[[int], ToyData]


def is_not_worse_than_its_baseline(learner: Learner) -> str | None:
    """On round clusters, where unlabeled rows should help: the one-sided 95% bound of the mean gain
    over 20 seeds must be above -.01. A method may say in `collapses` why it is.
    """
    if learner.supervised:
        return None
    if reason := learner.collapses.get("blobs"):
        return f"exempt on blobs: {reason}"
    bound = least_gain(learner.spec, blobs)
    require(bound > -MARGIN, f"it may be {-bound:.3f} worse than its baseline on blobs")
    return None


def least_gain(spec: str, draw: Draw) -> float:
    """The lower end of the one-sided 95% interval of the gain over the baseline, paired by seed,
    on the datasets that `draw` makes of the seeds.
    """
    gains = _gains(spec, draw, SEEDS)
    return float(np.mean(gains) + student_t.ppf(0.05, SEEDS - 1) * _error(gains))


def does_not_collapse_on_consistent_rows(learner: Learner) -> str | None:
    """Of a deep method, on four kinds of data at t = 0: it is not shown to be more than .05 below
    its baseline (the upper end of the 95% interval over 10 paired seeds), and it never answers with
    one class. A method may name kinds of data on which it does, with the reason, in `collapses`.
    """
    if learner.supervised or not learner.deep:
        return None
    remarks = []
    for world in WORLDS:
        kind = world.__name__.replace("_", " ")
        if reason := learner.collapses.get(world.__name__):
            remarks.append(f"exempt on {kind}: {reason}")
            continue
        try:
            fault = collapse(learner.spec, world)
        except InputError as missing:
            remarks.append(f"not checked on {kind}: {missing}")
            continue
        require(fault is None, f"on {kind} {fault}")
    return "; ".join(remarks) or None


def collapse(spec: str, world: Draw) -> str | None:
    """How a method collapses on a kind of data, in words; None if it does not."""
    gains = _gains(spec, world, COLLAPSE_SEEDS)
    highest = np.mean(gains) + student_t.ppf(0.975, COLLAPSE_SEEDS - 1) * _error(gains)
    if highest < -COLLAPSE:
        return f"it is at least {-highest:.3f} worse than its baseline, by {-np.mean(gains):.3f}"
    if min(classes for _, classes in _results(spec, world, COLLAPSE_SEEDS)) == 1:
        return "it answers with one class"
    return None


def _gains(spec: str, draw: Draw, seeds: int) -> list[float]:
    baseline = registry.matched_baseline(spec)
    if baseline is None:
        raise BrokenContractError("it names no baseline: give it the attribute `baseline`")
    pairs = zip(_results(spec, draw, seeds), _results(baseline, draw, seeds), strict=True)
    return [mine - others for (mine, _), (others, _) in pairs]


@cache  # many methods share a baseline
def _results(spec: str, draw: Draw, seeds: int) -> list[tuple[float, int]]:
    """The accuracy, and the number of classes among the answers, for every seed."""
    datasets = [draw(seed) for seed in range(seeds)]
    fits = Learner(spec).fit_all([(X, y) for X, y, _, _ in datasets])
    found = []
    for (model, error), (_, _, X, y) in zip(fits, datasets, strict=True):
        if error:
            raise error
        answers = np.asarray(model.predict(X))
        found.append((float(np.mean(answers == y)), len(np.unique(answers))))
    return found


def _error(gains: list[float]) -> float:
    """The standard error of their mean."""
    return float(np.std(gains, ddof=1) / np.sqrt(len(gains)))
