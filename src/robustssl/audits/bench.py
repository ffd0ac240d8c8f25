"""The bench on which learners are measured: folds of the labeled rows, and processes that train."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl.audits.folds import FOLDS, joined, same_rows, stratified
from robustssl.audits.learners import AROUND, around
from robustssl.audits.rows import Pair
from robustssl.audits.trials import Job, Rows, Train, Trained, trials

Matrix = npt.NDArray[np.float64]
Key = tuple[Any, ...]  # of a job: repeat and place of its fold, and what else tells it apart

REPEATS = 2
MOST = 2000  # unlabeled rows of one training


@dataclass(frozen=True, eq=False)
class Bench:
    """folds: by repeat and place. twins: for each unlabeled row an identical labeled row, or -1.
    free: the unlabeled rows that learners are given and asked about. own: estimators by name,
    besides the learners of an audit.
    """

    pair: Pair
    train: Train
    folds: Mapping[Key, tuple[Rows, Rows]]
    twins: Rows
    free: Rows
    own: Mapping[str, Any] = field(default_factory=dict)
    step: Callable[[], None] = lambda: None

    @property
    def first(self) -> list[Key]:
        """The folds of the first repeat."""
        return [key for key in self.folds if key[0] == 0]

    @property
    def seen(self) -> Rows:
        """The labeled rows that folds hold out: all of them, or the later ones."""
        return np.unique(np.concatenate([self.folds[key][1] for key in self.first]))

    def learner(self, name: str) -> Any:
        """A learner by its name, or one of the user's own, or self-training around that."""
        own = {AROUND.format(mine): around(model) for mine, model in self.own.items()}
        return {**own, **self.own}.get(name, name)

    def job(
        self,
        key: Key,
        names: Sequence[str],
        alone: Sequence[str] = (),
        free: Rows | None = None,
        part: float = 1.0,
    ) -> Job:
        """The job of a fold. alone: the learners that are given no unlabeled rows. free: the
        unlabeled rows, if not all of them. part: of the labeled rows.
        """
        learn, test = self.folds[key[:2]]
        given = self.free if free is None else free
        return Job(
            key,
            fold=(learn if part == 1 else _part(self.pair.y, learn, part), test),
            free=given[~np.isin(self.twins[given], test)],
            asked=self.free,
            learners={name: self.learner(name) for name in names},
            alone=frozenset(alone),
        )

    def run(self, work: Sequence[Job]) -> dict[Key, Trained]:
        """What was trained, in the order of the jobs, whichever was done first."""
        found = {}
        for one in self.train(work):
            found[one.job.key] = one
            self.step()
        return {job.key: found[job.key] for job in work}

    def joined(self, found: Mapping[Key, Trained], name: str) -> Matrix:
        """The probabilities of the `seen` rows in their places (repeats, n, classes)."""
        repeats, seen = 1 + max(key[0] for key in found), self.seen
        whole = np.zeros((repeats, len(seen), len(np.unique(self.pair.y))))
        for key, one in found.items():
            whole[key[0], np.searchsorted(seen, self.folds[key[:2]][1])] = one.held[name]
        return whole


@contextmanager
def bench_of(
    pair: Pair, own: Mapping[str, Any] | None = None, step: Callable[[], None] = lambda: None
) -> Iterator[Bench]:
    folds, twins = folds_of(pair)
    free = np.random.default_rng(0).permutation(len(pair.unlabeled))[:MOST]
    with trials(pair, len(folds)) as train:
        yield Bench(pair, train, folds, twins, free, own or {}, step)


def _part(y: Any, rows: Rows, share: float) -> Rows:
    """A share of the rows of each class, but at least two of them."""
    order = np.random.default_rng(0).permutation(rows)
    codes = np.unique(y[order], return_inverse=True)[1]
    place = pd.Series(codes).groupby(codes).cumcount().to_numpy()
    return np.asarray(order[place < np.maximum(2, np.round(share * np.bincount(codes)))[codes]])


def folds_of(pair: Pair) -> tuple[dict[Key, tuple[Rows, Rows]], Rows]:
    """Folds of the labeled rows, by repeat and place, in which identical rows and rows of a group
    stay together; and for each unlabeled row the number of such a labeled row, or -1.

    In time order there is one division only, so it is not repeated.
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
    alike = same_rows(rows)
    if pair.group is not None:
        alike = joined(alike, np.concatenate(pair.group))
    mine, theirs = np.split(alike, [len(codes)])
    time = None if pair.time is None else pair.time.labeled
    folds: dict[Key, tuple[Rows, Rows]] = {
        (repeat, place): fold
        for repeat in range(REPEATS if time is None else 1)
        for place, fold in enumerate(stratified(codes, mine, FOLDS, repeat, time))
    }
    first = {group: i for i, group in enumerate(mine)}
    return folds, np.array([first.get(group, -1) for group in theirs])
