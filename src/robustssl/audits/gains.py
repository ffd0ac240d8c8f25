"""Whether unlabeled rows help or harm, measured on the user's own labels by cross-validation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl import registry
from robustssl.analysis.interval import Interval, student
from robustssl.audits.folds import FOLDS, same_rows, stratified
from robustssl.audits.mixture import LEVEL
from robustssl.audits.rows import Pair
from robustssl.audits.trials import Job, Rows, Trained, train_all
from robustssl.environments import count
from robustssl.errors import InputError
from robustssl.spec import parse

Scores = npt.NDArray[np.float64]

METHODS = ("self_training", "label_spreading", "ssgmm", "safe_ensemble", "cast")
REPEATS = 2
TS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
MOST, FEWER = 2000, 1000  # unlabeled rows of one training: as they are, and at each t
STEPS = FOLDS * REPEATS + FOLDS * len(TS)


@dataclass(frozen=True, eq=False)
class Gains:
    """Accuracies on held-out labeled rows, of each algorithm in each fold.

    scores: (folds,), with the unlabeled rows as they are. curves: (folds, t), with a share t of
    rows that look inconsistent. baselines: the baseline of each method. reach: the estimated share
    of inconsistent rows at t = 0 and at t = 1. failed: why an algorithm could not be trained.
    apart: the share of inconsistent rows to which a method gives another answer than its baseline.
    The gain on these rows, which have no labels, lies between minus and plus that share.
    """

    scores: dict[str, Scores]
    curves: dict[str, Scores]
    baselines: dict[str, str]
    reach: tuple[float, float]
    failed: dict[str, str]
    apart: dict[str, float] = field(default_factory=dict)

    def gain(self, algorithm: str, over: str | None = None, tests: int = 1) -> Interval:
        """The gain over the baseline, or over another algorithm; as one of several tests."""
        other = over or self.baselines[algorithm]
        return self.interval(self.scores[algorithm] - self.scores[other], tests)

    def interval(self, values: Scores, tests: int = 1) -> Interval:
        """Student's interval of the mean over folds, with the variance of Nadeau and Bengio (2003),
        since folds share rows; as one of several tests (Bonferroni).
        """
        n, mean = len(values), values.mean()
        quantile = student(n - 1, 1 - (1 - LEVEL) / tests)
        half = quantile * values.std(ddof=1) * np.sqrt(1 / n + 1 / (FOLDS - 1))
        return Interval(float(mean), float(mean - half), float(mean + half))

    def alone(self) -> str:
        """The best algorithm that uses the labeled rows only."""
        return max(dict.fromkeys(self.baselines.values()), key=self._mean)

    def best(self) -> str:
        """The best method that uses the unlabeled rows."""
        return max(self.baselines, key=self._mean)

    def lead(self) -> Interval:
        """The gain of `best` over `alone`, which allows for the choice among the methods."""
        return self.gain(self.best(), self.alone(), tests=len(self.baselines))

    def _mean(self, algorithm: str) -> float:
        return float(self.scores[algorithm].mean())


def measure(
    pair: Pair,
    inconsistent: npt.NDArray[np.float64],
    algorithms: Sequence[str],
    step: Callable[[], None] = lambda: None,
) -> Gains:
    """The gains, in STEPS steps; inconsistent: the probability that an unlabeled row is."""
    baselines = {name: baseline_of(name) for name in algorithms}
    every = (*dict.fromkeys(baselines.values()), *algorithms)
    folds, twins = _folds(pair)
    rng, n = np.random.default_rng(0), len(pair.unlabeled)
    jobs: list[Any] = [((i, None), every, rng.permutation(n)[:MOST]) for i in range(len(folds))]
    rarer = min(inconsistent.sum(), n - inconsistent.sum())
    similar, different = pools(inconsistent, int(min(FEWER, max(rarer, n / 4))))
    for t in TS:
        k = count(t, len(similar))
        free = np.concatenate([different[:k], similar[k:]])
        jobs += [((i, t), tuple(algorithms), free) for i in range(FOLDS)]
    work = [
        Job(key, fold, free[~np.isin(twins[free], fold[1])], names, answers=key[1] is None)
        for key, names, free in jobs
        for fold in [folds[key[0]]]
    ]
    trained = []
    for one in train_all(pair, work):
        trained.append(one)
        step()
    reach = float(inconsistent[similar].mean()), float(inconsistent[different].mean())
    found = {one.job.key: one.scores for one in trained}
    gains = _collect(found, baselines, len(folds), reach)
    asked = [one for one in trained if one.job.answers]
    asked.sort(key=lambda one: one.job.key[0])  # they come in any order, which changes last digits
    pairs = gains.baselines.items()
    return replace(gains, apart={name: _apart(asked, name, b, inconsistent) for name, b in pairs})


def _apart(
    trained: Sequence[Trained], method: str, baseline: str, inconsistent: npt.NDArray[np.float64]
) -> float:
    """The mean share, over folds, of inconsistent rows that the two answer differently; nan where
    no row looks inconsistent.
    """
    shares = []
    for one in trained:
        weight = inconsistent[one.job.free]
        if weight.sum() > 0:
            differ = one.answers[method] != one.answers[baseline]
            shares.append(np.average(differ, weights=weight))
    return float(np.mean(shares)) if shares else np.nan


def _collect(
    found: dict[Any, Any], baselines: dict[str, str], folds: int, reach: tuple[float, float]
) -> Gains:
    """The gains of what could be trained; found: what `train_all` gave, by fold and t."""
    failed = {
        name: score
        for scores in found.values()
        for name, score in scores.items()
        if isinstance(score, str)
    }
    ran = {name: base for name, base in baselines.items() if not {name, base} & failed.keys()}
    if not ran:
        raise InputError(f"no algorithm could be trained: {next(iter(failed.values()))}")

    def scores_of(name: str, t: float | None, folds: int) -> Scores:
        return np.array([found[i, t][name] for i in range(folds)], float)

    return Gains(
        scores={name: scores_of(name, None, folds) for name in (*ran, *ran.values())},
        curves={name: np.stack([scores_of(name, t, FOLDS) for t in TS], 1) for name in ran},
        baselines=ran,
        reach=reach,
        failed=failed,
    )


def _folds(pair: Pair) -> tuple[list[tuple[Rows, Rows]], Rows]:
    """Folds of the labeled rows, REPEATS times, in which identical rows stay together; and for each
    unlabeled row the number of a labeled row that is identical, or -1.
    """
    codes = np.unique(pair.y, return_inverse=True)[1]
    both = [pair.labeled, pair.unlabeled]
    if pair.kind == "tabular":
        frame = pd.concat(both)[list(pair.unlabeled)].astype(object).astype(str)
        rows = np.column_stack([pd.factorize(frame[name])[0] for name in frame])
    else:
        content = np.ndarray.tobytes if pair.kind == "image" else str
        rows = pd.factorize(pd.Series([content(x) for X in both for x in X]))[0][:, None]
        rows = np.hstack([rows, rows])  # equal texts or images are no coincidence
    mine, theirs = np.split(same_rows(rows), [len(codes)])
    folds = [f for seed in range(REPEATS) for f in stratified(codes, mine, FOLDS, seed)]
    first = {group: i for i, group in enumerate(mine)}
    return folds, np.array([first.get(group, -1) for group in theirs])


def accuracy_alone(pair: Pair, algorithm: str) -> float:
    """The cross-validated accuracy of an algorithm that uses the labeled rows only."""
    folds, _ = _folds(pair)
    none = np.empty(0, np.intp)
    work = [Job(place, fold, none, [algorithm]) for place, fold in enumerate(folds)]
    found = {one.job.key: one.scores for one in train_all(pair, work)}
    scores = [found[place][algorithm] for place in sorted(found)]
    return float(np.mean([score for score in scores if not isinstance(score, str)]))


def baseline_of(algorithm: str) -> str:
    """The baseline of an algorithm; an error if an audit cannot try the algorithm."""
    registry.canonical("algorithm", algorithm)  # an error if there is no such algorithm
    if registry.about("algorithm", parse(algorithm)[0]).family == "deep":
        raise InputError(f"{algorithm} is a neural network, and an audit cannot save its model")
    baseline = registry.matched_baseline(algorithm)
    if baseline is None:
        raise InputError(f"{algorithm} has no baseline, so its gain cannot be measured")
    return baseline


def pools(inconsistent: npt.NDArray[np.float64], n: int) -> tuple[Rows, Rows]:
    """n rows that look consistent, and n that look inconsistent: each row is drawn to be one or the
    other by its probability; if there are too few of one kind, the most similar others fill up.
    """
    rng = np.random.default_rng(0)
    drawn, order = rng.random(len(inconsistent)) < inconsistent, rng.random(len(inconsistent))
    similar = np.lexsort((np.where(drawn, inconsistent, order), drawn))[:n]
    different = np.lexsort((np.where(drawn, order, -inconsistent), ~drawn))[:n]
    return similar, different
