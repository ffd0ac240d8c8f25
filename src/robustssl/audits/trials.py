"""Trials: algorithms are trained on some rows of an audit and tested on others, in processes."""

from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robustssl.audits.model import Model
from robustssl.audits.rows import Pair, take
from robustssl.errors import InputError, bounded
from robustssl.execution.engines.processes import clean_start, end_pool, pool_of
from robustssl.execution.run import count_workers

Rows = npt.NDArray[np.intp]


class Job(NamedTuple):
    """Algorithms to train in a fold with some of the unlabeled rows (`free`); `answers`: whether to
    keep what they predict for these.
    """

    key: Any
    fold: tuple[Rows, Rows]
    free: Rows
    names: Sequence[str]
    answers: bool = False


class Trained(NamedTuple):
    """Of each algorithm its accuracy in the fold, or the error that it raised; and its answers."""

    job: Job
    scores: dict[str, float | str]
    answers: dict[str, npt.NDArray[Any]]


def train_all(pair: Pair, work: Sequence[Job]) -> Iterator[Trained]:
    """What `_train` gives for each job, as it comes, from processes on all cores."""
    pool = pool_of(count_workers(None, len(work)), prepare=partial(_keep, pair))
    at_work = True
    try:
        with clean_start():
            running = [pool.submit(_train_kept, job) for job in work]
        for future in as_completed(running):
            yield future.result()
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
    return _train(_kept, job)


def _train(pair: Pair, job: Job) -> Trained:
    fold = job.fold
    labeled = take(pair.labeled, fold[0])
    unlabeled = take(pair.unlabeled, job.free) if len(job.free) else None
    scores: dict[str, float | str] = {}
    answers = {}
    for name in job.names:
        try:
            model = Model(name, pair.kind, pair.text, pair.encoder).fit(
                labeled, pair.y[fold[0]], unlabeled
            )
            right = model.predict(take(pair.labeled, fold[1])) == pair.y[fold[1]]
            scores[name] = float(right.mean())
            if job.answers and unlabeled is not None:
                answers[name] = model.predict(unlabeled)
        except Exception as error:
            scores[name] = bounded(f"{type(error).__name__}: {error}")
    return Trained(job, scores, answers)
