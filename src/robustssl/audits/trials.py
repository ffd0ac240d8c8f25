"""Trials: learners are trained on some rows of an audit and asked about others, in processes."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robustssl.audits.model import Model, encoder
from robustssl.audits.rows import Pair, take
from robustssl.errors import InputError, bounded
from robustssl.execution.engines.processes import clean_start, end_pool, pool_of
from robustssl.execution.run import count_workers

Rows = npt.NDArray[np.intp]
Matrix = npt.NDArray[np.float64]


class Job(NamedTuple):
    """Learners to train on labeled rows, the first of the `fold`, and on unlabeled rows, `free`.
    They are asked about the other labeled rows of the fold, and about the unlabeled rows `asked`.

    learners: by name; `alone` are those that see no unlabeled row.
    """

    key: Any
    fold: tuple[Rows, Rows]
    free: Rows
    asked: Rows
    learners: Mapping[str, Any]
    alone: frozenset[str]


class Trained(NamedTuple):
    """Of each learner the probabilities of the classes of the held-out rows (rows, classes), or the
    error that it raised; and its answers for the unlabeled rows, as codes of classes.
    """

    job: Job
    held: dict[str, Matrix]
    answers: dict[str, Rows]
    failed: dict[str, str]


Train = Callable[[Sequence[Job]], Iterator[Trained]]


@contextmanager
def trials(pair: Pair, jobs: int) -> Iterator[Train]:
    """A function that gives what `train` gives for each job, as it comes, from processes on all
    cores. jobs: how many it is given at a time.
    """
    pool = pool_of(count_workers(None, jobs), prepare=partial(_keep, pair))
    at_work = True

    def train_all(work: Sequence[Job]) -> Iterator[Trained]:
        with clean_start():
            running = [pool.submit(_train_kept, job) for job in work]
        for future in as_completed(running):
            yield future.result()

    try:
        yield train_all
        at_work = False
    except BrokenProcessPool as error:
        raise InputError("a process of the audit ended without a word (out of memory?)") from error
    finally:
        end_pool(pool, at_work)


_kept: Pair  # in a worker process


def _keep(pair: Pair) -> None:
    """Keep the rows, which all jobs of this process need."""
    global _kept
    _kept = pair


def _train_kept(job: Job) -> Trained:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows, and of fits that end early
        return train(_kept, job)


def train(pair: Pair, job: Job) -> Trained:
    """Train the learners of a job, one after the other; one that fails is no reason to stop."""
    labeled, held = (take(pair.labeled, rows) for rows in job.fold)
    y, classes = pair.y[job.fold[0]], np.unique(pair.y)
    asked = take(pair.unlabeled, job.asked)
    free = take(pair.unlabeled, job.free) if len(job.free) else None
    made = encoder(labeled, pair.kind, pair.encoder)
    found = Trained(job, {}, {}, {})
    for name, learner in job.learners.items():
        try:
            model = Model(learner, pair.kind, pair.text, pair.encoder)
            model.fit(labeled, y, None if name in job.alone else free, made)
            found.held[name] = _spread(model, held, classes)
            found.answers[name] = _spread(model, asked, classes).argmax(1)
        except Exception as error:
            found.failed[name] = bounded(f"{type(error).__name__}: {error}")
    return found


def _spread(model: Model, rows: Any, classes: npt.NDArray[Any]) -> Matrix:
    """The probabilities of all classes, also of those that a fold has no labeled row of."""
    P = np.zeros((len(rows), len(classes)))
    P[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(rows)
    return P
