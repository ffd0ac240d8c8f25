"""Will unlabeled rows help or harm? Measured on the user's own labels, held out fold by fold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import stdtrit

from robustssl import registry
from robustssl.audits.estimate import LEVEL, Estimate
from robustssl.audits.mixture import same_rows, stratified
from robustssl.audits.model import Model
from robustssl.audits.rows import Pair, take
from robustssl.environments import count
from robustssl.errors import InputError
from robustssl.spec import parse

Rows = npt.NDArray[np.intp]
Scores = npt.NDArray[np.float64]

METHODS = ("self_training", "label_spreading", "ssgmm", "safe_ensemble", "cast")
FOLDS, REPEATS = 5, 2
TS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
MOST, FEWER = 2000, 1000  # unlabeled rows of a training, and of one of the curve


@dataclass(frozen=True, eq=False)
class Gains:
    """Accuracies on held-out labeled rows, fold by fold, by algorithm.

    scores: with the unlabeled rows as they are. curves: (folds, t), with a share t of those that
    look foreign. reach: how many are, by estimate, at t = 0 and t = 1. failed: algorithms that
    could not be trained, and why.
    """

    scores: dict[str, Scores]
    curves: dict[str, Scores]
    baselines: dict[str, str]
    reach: tuple[float, float]
    failed: dict[str, str]

    def gain(self, algorithm: str, over: str | None = None, tests: int = 1) -> Estimate:
        """Over the matched baseline, or another learner; as one of so many tests."""
        other = over or self.baselines[algorithm]
        return self.interval(self.scores[algorithm] - self.scores[other], tests)

    def interval(self, values: Scores, tests: int = 1) -> Estimate:
        """Of the mean over folds, which share rows: Student's, with the variance of Nadeau and
        Bengio (2003).
        """
        n, mean = len(values), values.mean()
        quantile = stdtrit(n - 1, 1 - (1 - LEVEL) / 2 / tests)
        half = quantile * values.std(ddof=1) * np.sqrt(1 / n + 1 / (FOLDS - 1))
        return Estimate(float(mean), float(mean - half), float(mean + half))

    def alone(self) -> str:
        """The best learner that sees no unlabeled row."""
        return max(set(self.baselines.values()), key=lambda name: self.scores[name].mean())


STEPS = FOLDS * REPEATS + FOLDS * len(TS)


def measure(
    pair: Pair,
    foreign: npt.NDArray[np.float64],
    algorithms: Sequence[str],
    step: Callable[[], None] = lambda: None,
) -> Gains:
    """foreign: the probability of each unlabeled row to be foreign. Takes STEPS steps."""
    baselines = {name: baseline_of(name) for name in algorithms}
    alone = tuple(dict.fromkeys(baselines.values()))
    folds, twins = _folds(pair)
    rng, n = np.random.default_rng(0), len(pair.unlabeled)
    names = (*alone, *algorithms)
    jobs: list[Any] = [((i, None), names, rng.permutation(n)[:MOST]) for i in range(len(folds))]
    rarer = min(foreign.sum(), n - foreign.sum())  # as many as there are of both kinds, or nearly
    good, bad = pools(foreign, int(min(FEWER, max(rarer, n / 4))))
    for t in TS:
        k = count(t, len(good))
        free = np.concatenate([bad[:k], good[k:]])
        jobs += [((i, t), tuple(algorithms), free) for i in range(FOLDS)]
    found = {}
    work = (
        delayed(_train)(key, pair, fold, free[~np.isin(twins[free], fold[1])], names)
        for key, names, free in jobs
        for fold in [folds[key[0]]]
    )
    for key, scores in Parallel(n_jobs=-1, return_as="generator_unordered")(work):
        found[key] = scores
        step()
    failed = {
        name: str(score)
        for scores in found.values()
        for name, score in scores.items()
        if isinstance(score, str)
    }
    broken = failed.keys() | {name for name in algorithms if baselines[name] in failed}
    ran = [name for name in algorithms if name not in broken]
    if not ran:
        raise InputError(f"no algorithm could be trained: {next(iter(failed.values()))}")

    def scores_of(name: str, t: float | None, folds: int) -> Scores:
        return np.array([found[i, t][name] for i in range(folds)], float)

    return Gains(
        scores={
            name: scores_of(name, None, len(folds))
            for name in (*ran, *dict.fromkeys(baselines[name] for name in ran))
        },
        curves={name: np.stack([scores_of(name, t, FOLDS) for t in TS], 1) for name in ran},
        baselines={name: baselines[name] for name in ran},
        reach=(float(foreign[good].mean()), float(foreign[bad].mean())),
        failed=failed,
    )


def _folds(pair: Pair) -> tuple[list[tuple[Rows, Rows]], Rows]:
    """Folds of the labeled rows, several times over, in which rows that are the same stay together;
    and of each unlabeled row a labeled one that is the same, or -1.
    """
    codes = np.unique(pair.y, return_inverse=True)[1]
    both = [pair.labeled, pair.unlabeled]
    if pair.kind == "tabular":
        frame = pd.concat(both)[list(pair.unlabeled)].astype(object).astype(str)
        rows = np.column_stack([pd.factorize(frame[name])[0] for name in frame])
    else:
        content = np.ndarray.tobytes if pair.kind == "image" else str
        rows = pd.factorize(pd.Series([content(x) for X in both for x in X]))[0][:, None]
        rows = np.hstack([rows, rows])  # texts and images are the same by no chance
    mine, theirs = np.split(same_rows(rows), [len(codes)])
    folds = [f for seed in range(REPEATS) for f in stratified(codes, mine, FOLDS, seed)]
    first = {group: i for i, group in enumerate(mine)}
    return folds, np.array([first.get(group, -1) for group in theirs])


def accuracy_alone(pair: Pair, algorithm: str) -> float:
    """Of a learner that sees no unlabeled row, on labeled rows held out."""
    folds, _ = _folds(pair)
    none = np.empty(0, np.intp)
    work = (delayed(_train)(None, pair, fold, none, [algorithm]) for fold in folds)
    found = [scores[algorithm] for _, scores in Parallel(n_jobs=-1)(work)]
    return float(np.mean([score for score in found if not isinstance(score, str)]))


def baseline_of(algorithm: str) -> str:
    registry.canonical("algorithm", algorithm)  # or the reason why there is none such
    if hasattr(registry.algorithm(parse(algorithm)[0]), "fit_together"):
        raise InputError(f"{algorithm} is a net, which cannot be kept in a file without pickle")
    baseline = registry.matched_baseline(algorithm)
    if baseline is None:
        raise InputError(f"{algorithm} names no matched baseline, so it has no gain")
    return baseline


def pools(foreign: npt.NDArray[np.float64], n: int) -> tuple[Rows, Rows]:
    """n rows that look labeled, and n that look foreign: each row is one or the other by a draw of
    its probability; where one kind is short, the likeliest of the other fill up.
    """
    rng = np.random.default_rng(0)
    drawn, order = rng.random(len(foreign)) < foreign, rng.random(len(foreign))
    good = np.lexsort((np.where(drawn, foreign, order), drawn))[:n]
    bad = np.lexsort((np.where(drawn, order, -foreign), ~drawn))[:n]
    return good, bad


def _train(
    key: Any, pair: Pair, fold: tuple[Rows, Rows], free: Rows, names: Sequence[str]
) -> tuple[Any, dict[str, float | str]]:
    """The accuracy of each, or why there is none."""
    labeled = take(pair.labeled, fold[0])
    unlabeled = take(pair.unlabeled, free) if len(free) else None
    scores: dict[str, float | str] = {}
    for name in names:
        try:
            model = Model(name, pair.kind, pair.text).fit(labeled, pair.y[fold[0]], unlabeled)
            right = model.predict(take(pair.labeled, fold[1])) == pair.y[fold[1]]
            scores[name] = float(right.mean())
        except Exception as error:
            scores[name] = f"{type(error).__name__}: {error}"
    return key, scores
