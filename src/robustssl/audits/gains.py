"""What learners say of labeled rows that they have not seen, with and without unlabeled rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl.audits.folds import FOLDS, same_rows, stratified
from robustssl.audits.learners import AROUND, BASELINES, around
from robustssl.audits.rows import Pair
from robustssl.audits.scores import score_of
from robustssl.audits.trials import Job, Rows, Train, Trained, trials
from robustssl.errors import InputError

Matrix = npt.NDArray[np.float64]
Step = Callable[[], None]

REPEATS = 2
MOST = 2000  # unlabeled rows of one training
SHARES = (0.25, 0.5, 0.75)  # of the unlabeled rows that are kept, the most consistent first
PARTS = (0.25, 0.5)  # of the labeled rows of a fold, for the learning curve
STEPS = FOLDS * (2 * REPEATS + len(SHARES) + len(PARTS))


@dataclass(frozen=True, eq=False)
class Gains:
    """What was measured in REPEATS times FOLDS folds of the labeled rows.

    y: codes of the classes (n,). held: by learner the probabilities of the classes, by models that
    had not seen the row (repeats, n, classes). answers: by learner the codes that the model of each
    fold gave to unlabeled rows (folds, rows). baselines, methods: learners that use no unlabeled
    rows, and those that do. failed: why a learner could not be trained. kept: by share of the
    unlabeled rows that `best` was given, as in `held`, once. curve: by number of labels that `alone`
    was given, as in `held`, once.
    """

    y: Rows
    held: Mapping[str, Matrix]
    answers: Mapping[str, Rows]
    baselines: tuple[str, ...]
    methods: tuple[str, ...]
    score: str = "accuracy"
    failed: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[float, Matrix] = field(default_factory=dict)
    curve: Mapping[int, Matrix] = field(default_factory=dict)

    def mean(self, learner: str, weights: Matrix | None = None) -> float:
        """The score of a learner over all rows, in the mean over repeats."""
        w = np.ones(len(self.y)) if weights is None else weights
        found = [score_of(self.score, self.y, P, w[None]) for P in self.held[learner]]
        return float(np.mean(found))

    @property
    def alone(self) -> str:
        """The best learner that uses no unlabeled rows."""
        return max(self.baselines, key=self.mean)


@dataclass(frozen=True, eq=False)
class Bench:
    """Where learners are measured: the folds of a pair, and what trains learners in them.

    folds: by repeat and place. twins: for each unlabeled row an identical labeled row, or -1. free:
    the unlabeled rows that learners are given and asked about. own: estimators by name, besides the
    learners of an audit.
    """

    pair: Pair
    train: Train
    folds: Mapping[tuple[int, int], tuple[Rows, Rows]]
    twins: Rows
    free: Rows
    own: Mapping[str, Any]
    step: Step

    def job(
        self,
        key: tuple[Any, ...],
        names: Sequence[str],
        alone: Sequence[str] = (),
        free: Rows | None = None,
        part: float = 1.0,
    ) -> Job:
        """The job in a fold, whose key comes first. free: the unlabeled rows, if not all of them;
        part: the share of the labeled rows that is learned from.
        """
        learn, test = self.folds[key[:2]]
        given = self.free if free is None else free
        return Job(
            key,
            fold=(learn if part == 1 else _part(self.pair.y, learn, part), test),
            free=given[~np.isin(self.twins[given], test)],
            asked=self.free,
            learners={name: self.own.get(name, name) for name in names},
            alone=frozenset(alone),
        )

    def run(self, work: Sequence[Job]) -> dict[Any, Trained]:
        """What was trained, by the key of its job and in the order of the jobs."""
        found = {}
        for one in self.train(work):
            found[one.job.key] = one
            self.step()
        return {job.key: found[job.key] for job in work}

    def joined(self, found: Mapping[Any, Trained], name: str) -> Matrix:
        """The probabilities of held-out rows in their places (repeats, n, classes); nan for a row
        that no fold holds out.
        """
        repeats = 1 + max(key[0] for key in found)
        whole = np.full((repeats, len(self.pair.y), len(np.unique(self.pair.y))), np.nan)
        for key, one in found.items():
            whole[key[0], self.folds[key[:2]][1]] = one.held[name]
        return whole


def _part(y: Any, rows: Rows, share: float) -> Rows:
    """A share of the rows of each class, but at least two; the first of them, as rows are drawn."""
    order = np.random.default_rng(0).permutation(rows)
    codes = np.unique(y[order], return_inverse=True)[1]
    place = pd.Series(codes).groupby(codes).cumcount().to_numpy()
    return np.asarray(order[place < np.maximum(2, np.round(share * np.bincount(codes)))[codes]])


def measure(
    pair: Pair,
    inconsistent: Matrix,
    methods: Sequence[str],
    score: str = "accuracy",
    own: Mapping[str, Any] | None = None,
    step: Step = lambda: None,
) -> Gains:
    """The gains, in STEPS steps; inconsistent: the probability that an unlabeled row is.

    own: estimators by name, which take the place of all baselines.
    """
    own, folds, twins = own or {}, *folds_of(pair)
    around_own = {AROUND.format(name): around(model) for name, model in own.items()}
    free = np.random.default_rng(0).permutation(len(pair.unlabeled))[:MOST]
    empty = Gains(np.unique(pair.y, return_inverse=True)[1], {}, {}, (), (), score)
    with trials(pair, len(folds)) as train:
        bench = Bench(pair, train, folds, twins, free, {**own, **around_own}, step)
        gains = _more(bench, empty, tuple(own or BASELINES), (*methods, *around_own))
        if not own:
            gains = _more(bench, gains, (), (AROUND.format(gains.alone),))
        return _rows_seen(gains)


def _more(bench: Bench, gains: Gains, baselines: Sequence[str], methods: Sequence[str]) -> Gains:
    """The gains with those of more learners."""
    names = (*baselines, *methods)
    found = bench.run([bench.job(key, names, baselines) for key in bench.folds])
    failed = {name: why for one in found.values() for name, why in one.failed.items()}
    ran = [name for name in names if name not in failed]
    gains = replace(
        gains,
        held={**gains.held, **{name: bench.joined(found, name) for name in ran}},
        answers={
            **gains.answers,
            **{name: np.stack([one.answers[name] for one in found.values()]) for name in ran},
        },
        baselines=(*gains.baselines, *(name for name in baselines if name in ran)),
        methods=(*gains.methods, *(name for name in methods if name in ran)),
        failed={**gains.failed, **failed},
    )
    for some in (gains.baselines, gains.methods):
        if not some:
            raise InputError(f"no learner could be trained: {next(iter(failed.values()))}")
    return gains


def _rows_seen(gains: Gains) -> Gains:
    """Without the rows that no fold holds out."""
    seen = ~np.isnan(next(iter(gains.held.values()))).any((0, 2))
    return replace(
        gains, y=gains.y[seen], held={name: P[:, seen] for name, P in gains.held.items()}
    )


def folds_of(pair: Pair) -> tuple[dict[tuple[int, int], tuple[Rows, Rows]], Rows]:
    """Folds of the labeled rows, by repeat and place, in which identical rows stay together; and for
    each unlabeled row the number of a labeled row that is identical, or -1.
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
    folds = {
        (repeat, place): fold
        for repeat in range(REPEATS)
        for place, fold in enumerate(stratified(codes, mine, FOLDS, repeat))
    }
    first = {group: i for i, group in enumerate(mine)}
    return folds, np.array([first.get(group, -1) for group in theirs])
