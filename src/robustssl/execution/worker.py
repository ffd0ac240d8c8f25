"""A group of cells -> records: split, features, fit, score. `run_group` never raises."""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from robustssl import registry
from robustssl.cell import Cell
from robustssl.data import digest
from robustssl.errors import InputError, bounded
from robustssl.execution.begun import Expectation
from robustssl.execution.failures import (
    failed_record,
    let_through,
    no_fork_returns,
    of_a_person,
    reason_of,
)
from robustssl.execution.folds import Fold, cv_scores
from robustssl.execution.groups import Group, fit_of
from robustssl.execution.jobs import Job, of_cell, prepare_job
from robustssl.execution.limits import UNLIMITED, Limits
from robustssl.execution.provenance import provenance
from robustssl.execution.scores import accuracy_there, detection_of, label_free, scores_of
from robustssl.records.bits import bits_of
from robustssl.records.extras import NO_EXTRAS, Extras
from robustssl.records.record import Record
from robustssl.spec import parse


def run_group(
    group: Group,
    extras: Extras = NO_EXTRAS,
    *,
    keep_predictions: bool = False,
    checkpoints: Path | None = None,
    limits: Limits = UNLIMITED,
) -> list[Record]:
    """One record a cell, an error among them if need be. Long training leaves `checkpoints`."""
    made_with = provenance()
    try:
        with no_fork_returns():
            for cell in group:
                _load(cell)
            with limits.kept(len(group)):
                return _run_group(group, extras, keep_predictions, checkpoints)
    except BaseException as error:
        if of_a_person(error):
            raise
        return [failed_record(cell, error, made_with) for cell in group]


def _load(cell: Cell) -> None:
    """Import what a cell names, which its time limit does not count. What cannot be imported fails
    where it is used.
    """
    with suppress(InputError):
        registry.find("algorithm", cell.algorithm)
        registry.find("environment", parse(cell.environment)[0])
        registry.find("dataset", parse(cell.dataset)[0])


def _run_group(
    group: Group, extras: Extras, keep_predictions: bool, checkpoints: Path | None
) -> list[Record]:
    alike: dict[Cell, list[Cell]] = {}
    for cell in group:
        alike.setdefault(fit_of(cell), []).append(cell)
    jobs = [Job(cells, dict(provenance())) for cells in alike.values()]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _run(jobs, extras, keep_predictions, checkpoints)
    notes = dict.fromkeys(bounded(f"{w.category.__name__}: {w.message}") for w in caught)
    return [replace(record, warnings=tuple(notes)) for job in jobs for record in job.records]


@contextmanager
def _failing(part: Job | Fold) -> Iterator[None]:
    """What goes wrong inside is the failure of a fit."""
    try:
        with no_fork_returns():
            yield
    except BaseException as error:
        let_through(error)
        part.fail(error)


def _run(
    jobs: Sequence[Job], extras: Extras, keep_predictions: bool, checkpoints: Path | None
) -> None:
    for job in jobs:
        with _failing(job):
            prepare_job(job, extras)
    able = [job for job in jobs if not job.records]
    start = time.perf_counter()
    _fit(able, checkpoints)
    seconds = (time.perf_counter() - start) / max(len(able), 1)
    for job in able:
        if not job.records:
            with _failing(job):
                record = _score(job, seconds, extras, keep_predictions)
                job.records = [_at(job, record, cell, extras) for cell in job.cells]


def _fit(jobs: Sequence[Job], checkpoints: Path | None) -> None:
    """Fit the models of all jobs and of their folds; nets in one stack, since a model does not
    depend on those beside it.
    """
    if jobs and jobs[0].together:
        _fit_together(jobs, checkpoints)
        return
    for job in jobs:
        with _failing(job):
            job.model.fit(*job.problem)
            for fold in job.folds:
                with _failing(fold):
                    fold.model.fit(*fold.problem)


def _fit_together(jobs: Sequence[Job], checkpoints: Path | None) -> None:
    parts: list[Job | Fold] = [*jobs, *(fold for job in jobs for fold in job.folds)]
    models, rows = [part.model for part in parts], [part.problem for part in parts]
    tell = Expectation().tell
    try:
        with no_fork_returns():
            errors = models[0].fit_together(models, rows, checkpoints=checkpoints, tell=tell)
    except BaseException as error:
        let_through(error)
        errors = [error] * len(models)
    for part, failure in zip(parts, errors, strict=True):
        if failure is not None:
            part.fail(failure)


def _score(job: Job, seconds: float, extras: Extras, keep_predictions: bool) -> Record:
    start = time.perf_counter()
    predicted = np.asarray(job.model.predict(job.split.X_test))
    seconds += time.perf_counter() - start
    aside = job.prepared.aside(views=job.together)
    for failure in (fold.error for fold in job.folds if fold.error is not None):
        warnings.warn(f"no scores out of fold: {reason_of(failure)}", stacklevel=2)
    scores = {
        **scores_of(job.model, job.split, predicted),
        **detection_of(job.model, job.split, aside),
        **accuracy_there(job.model, job.prepared.pools, aside),
        **cv_scores(job.folds),
    }
    record = Record(
        job.cell,
        registry.versions(job.cell),
        scores=scores,
        seconds=seconds,
        digest=digest(job.split.test_rows, predicted),
        predictions=tuple(predicted.tolist()) if keep_predictions else None,
        provenance={**job.made_with, **getattr(job.model, "trained_with_", {})},
        method=registry.describe(job.cell.spec),
        test_rows=len(job.split.test_rows),
        bits=bits_of(predicted == job.split.y_test) if extras.bits else None,
    )
    record.to_json()  # an error here is of this cell; where it is stored, it would end the run
    return record


def _at(job: Job, record: Record, cell: Cell, extras: Extras) -> Record:
    """The record of one of the cells; unlabeled rows are those of its own t."""
    record = of_cell(record, cell, len(job.cells))
    if not extras.criteria:
        return record
    at = job.split if cell == job.cell else job.prepared.split(cell.t, views=job.together)
    return replace(record, scores={**record.scores, **label_free(job.model, at)})
