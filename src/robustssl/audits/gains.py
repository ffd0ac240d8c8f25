"""What learners say of labeled rows that they have not seen, with and without unlabeled rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robustssl.audits.bench import REPEATS, Bench, Key, Matrix
from robustssl.audits.folds import FOLDS
from robustssl.audits.learners import AROUND, BASELINES
from robustssl.audits.scores import score_of
from robustssl.audits.trials import Rows
from robustssl.errors import InputError

SHARES = (0.25, 0.5, 0.75)  # of the unlabeled rows that are kept, the most consistent first
PARTS = (0.25, 0.5)  # of the labeled rows of a fold, for the learning curve
STEPS = FOLDS * (REPEATS * (2 + len(SHARES)) + len(PARTS))


@dataclass(frozen=True, eq=False)
class Gains:
    """What was measured in the folds of the labeled rows.

    y: codes of the classes (n,). held: by learner the probabilities of the classes, by models that
    had not seen the row (repeats, n, classes). answers: by learner the codes that the model of each
    fold gave to the unlabeled rows `asked` (folds, rows). baselines, methods: the learners that use
    no unlabeled rows, and those that do. failed: why a learner could not be trained.
    """

    y: Rows
    held: Mapping[str, Matrix]
    answers: Mapping[str, Rows]
    baselines: tuple[str, ...]
    methods: tuple[str, ...]
    score: str = "accuracy"
    failed: Mapping[str, str] = field(default_factory=dict)
    asked: Rows = field(default_factory=lambda: np.arange(0))

    @property
    def alone(self) -> str:
        """The best learner that uses no unlabeled rows; of equals the first."""
        return max(self.baselines, key=self.mean)

    def mean(self, learner: str) -> float:
        """The score of a learner, in the mean over repeats."""
        return float(self.scores(learner, np.ones((1, len(self.y))))[0])

    def scores(self, learner: str, W: Matrix) -> Matrix:
        """The score of a learner by several weightings of the rows (m, n), in the mean over
        repeats.
        """
        found = [score_of(self.score, self.y, P, W) for P in self.held[learner]]
        return np.asarray(np.mean(found, axis=0))


def measure(bench: Bench, methods: Sequence[str], score: str = "accuracy") -> Gains:
    """The gains of methods, and of self-training around the best baseline; takes 2 REPEATS FOLDS
    steps. Estimators of the user's own take the place of all baselines.
    """
    codes = np.unique(bench.pair.y, return_inverse=True)[1][bench.seen]
    baselines = tuple(bench.own or BASELINES)
    found = _more(bench, Gains(codes, {}, {}, (), (), score, asked=bench.free), baselines, methods)
    return _more(bench, found, (), (AROUND.format(found.alone),))


def _more(bench: Bench, gains: Gains, baselines: Sequence[str], methods: Sequence[str]) -> Gains:
    """The gains with those of more learners."""
    names = (*baselines, *methods)
    found = bench.run([bench.job(key, names, baselines) for key in bench.folds])
    failed = {name: why for one in found.values() for name, why in one.failed.items()}
    ran = [name for name in names if name not in failed]
    answers = {name: np.stack([one.answers[name] for one in found.values()]) for name in ran}
    more = replace(
        gains,
        held={**gains.held, **{name: bench.joined(found, name) for name in ran}},
        answers={**gains.answers, **answers},
        baselines=(*gains.baselines, *(name for name in baselines if name in ran)),
        methods=(*gains.methods, *(name for name in methods if name in ran)),
        failed={**gains.failed, **failed},
    )
    if not more.baselines:
        raise InputError(f"no baseline could be trained: {next(iter(failed.values()))}")
    return more


def by_share(bench: Bench, method: str, inconsistent: Matrix) -> dict[float, Matrix]:
    """What a method says that is given a share of the unlabeled rows, those first that are the most
    consistent, by share (repeats, n, classes). inconsistent: the probability that an unlabeled row
    is.
    """
    order = bench.free[np.argsort(inconsistent[bench.free], kind="stable")]
    rows = {share: order[: max(1, round(share * len(order)))] for share in SHARES}
    ways = {share: {"free": free} for share, free in rows.items()}
    return _held(bench, method, ways, list(bench.folds))


def by_labels(bench: Bench, baseline: str, parts: Sequence[float] = PARTS) -> dict[float, Matrix]:
    """What a baseline says that is given a part of the labels, by part (n, classes), in the folds
    of the first repeat.
    """
    ways = {part: {"part": part, "alone": [baseline]} for part in parts}
    return {part: P[0] for part, P in _held(bench, baseline, ways, bench.first).items()}


def _held(
    bench: Bench, name: str, ways: Mapping[float, Mapping[str, Any]], folds: Sequence[Key]
) -> dict[float, Matrix]:
    """What a learner says of held-out rows that is trained in several ways (repeats, n, classes); a
    way in which it cannot be trained is left out.
    """
    work = [bench.job((*key, way), [name], **how) for way, how in ways.items() for key in folds]
    found = bench.run(work)
    mine = {way: {key: one for key, one in found.items() if key[2] == way} for way in ways}
    return {
        way: bench.joined(some, name)
        for way, some in mine.items()
        if not any(one.failed for one in some.values())
    }
