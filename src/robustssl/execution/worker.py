"""A group of cells -> records: split, features, fit, score. `run_group` never raises."""

import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from robustssl import registry
from robustssl.cell import Cell
from robustssl.data import digest
from robustssl.errors import InputError, bounded
from robustssl.execution.folds import Fold, cv_scores, held_out
from robustssl.execution.groups import Group, are_nets, fit_of
from robustssl.execution.limits import UNLIMITED, Limits, OverTime
from robustssl.execution.provenance import provenance
from robustssl.execution.scores import accuracy_there, detection_of, label_free, scores_of
from robustssl.records.bits import bits_of
from robustssl.records.record import FOLDS, NO_EXTRAS, Extras, Record
from robustssl.spec import parse
from robustssl.splits import prepare


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
        with _no_fork_returns():
            for cell in group:
                _load(cell)
            with limits.kept(len(group)):
                return _run_group(group, extras, keep_predictions, checkpoints)
    except BaseException as error:
        if _of_a_person(error):
            raise
        return [_failure(cell, error, made_with) for cell in group]


@contextmanager
def _no_fork_returns() -> Iterator[None]:
    """If the code inside forks this process, the child ends where that code is done: it must not
    answer a second time.
    """
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(1)


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
    jobs = [_Job(cells, dict(provenance())) for cells in alike.values()]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _run(jobs, extras, keep_predictions, checkpoints)
    notes = dict.fromkeys(bounded(f"{w.category.__name__}: {w.message}") for w in caught)
    return [replace(record, warnings=tuple(notes)) for job in jobs for record in job.records]


@dataclass(eq=False)
class _Job:
    """A fit on its way to the records of the cells that it answers; `cell` is the first of them."""

    cells: Sequence[Cell]
    made_with: dict[str, Any]
    prepared: Any = None
    model: Any = None
    split: Any = None
    folds: list[Fold] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def cell(self) -> Cell:
        return self.cells[0]

    @property
    def problem(self) -> tuple[Any, Any]:
        return self.split.X, self.split.y

    @property
    def together(self) -> bool:
        return are_nets((self.cell,))

    def fail(self, error: BaseException) -> None:
        failure = _failure(self.cell, error, self.made_with)
        self.records = [_of_cell(failure, cell, len(self.cells)) for cell in self.cells]


def _of_cell(record: Record, cell: Cell, count: int) -> Record:
    """The record of one of the cells that a fit answers; the digest is of the rows it saw."""
    known = {k: v for k, v in record.provenance.items() if k != "split_digest"}
    made_with = record.provenance if cell == record.cell else known
    return replace(record, cell=cell, seconds=record.seconds / count, provenance=made_with)


@contextmanager
def _failing(part: _Job | Fold) -> Iterator[None]:
    """What goes wrong inside is the failure of a fit."""
    try:
        with _no_fork_returns():
            yield
    except BaseException as error:
        _let_through(error)
        part.fail(error)


def _let_through(error: BaseException) -> None:
    """What is not of the cell: its time is over, or a person stops the run in this process."""
    if _of_a_person(error) or isinstance(error, OverTime):
        raise error


def _of_a_person(error: BaseException) -> bool:
    """Whether it is Ctrl-C; worker processes do not hear it."""
    return isinstance(error, KeyboardInterrupt) and multiprocessing.parent_process() is None


def _failure(cell: Cell, error: BaseException, made_with: Mapping[str, Any]) -> Record:
    reason, log = _reason(error), "".join(traceback.format_exception(error))
    method = registry.describe(cell.spec)
    versions = registry.versions(cell)
    return Record(cell, versions, error=reason, provenance=made_with, log=log, method=method)


def _reason(error: BaseException) -> str:
    try:
        return bounded(f"{type(error).__name__}: {error}")
    except Exception:
        return f"{type(error).__name__}, which cannot say why"


def _run(
    jobs: Sequence[_Job], extras: Extras, keep_predictions: bool, checkpoints: Path | None
) -> None:
    for job in jobs:
        with _failing(job):
            _prepare(job, extras)
    able = [job for job in jobs if not job.records]
    start = time.perf_counter()
    _fit(able, checkpoints)
    seconds = (time.perf_counter() - start) / max(len(able), 1)
    for job in able:
        if not job.records:
            with _failing(job):
                record = _score(job, seconds, extras, keep_predictions)
                job.records = [_at(job, record, cell, extras) for cell in job.cells]


def _prepare(job: _Job, extras: Extras) -> None:
    """The model, and the rows it is fitted to; the same for each fold."""
    cell = job.cell
    job.prepared = prepare(cell.dataset, cell.environment, cell.labels, cell.seed)
    job.split = job.prepared.split(cell.t, views=job.together)
    job.model = _model(job)
    data = job.prepared.pools.data
    job.made_with["data"] = {"name": data.name, "kind": data.kind}
    job.made_with["dataset_sha256"] = registry.dataset(cell.dataset).sha256
    job.made_with["split_digest"] = job.split.digest
    if extras.criteria:
        masks = held_out(cell, job.split, job.prepared.pools)
        job.folds = [Fold(_model(job), job.split, mask) for mask in masks]
        job.made_with[FOLDS] = len(job.folds)


def _model(job: _Job) -> Any:
    """A model that is not fitted. Models that are fitted together share their chance with those of
    other algorithms: start, labeled batches and views differ by the method alone.
    """
    cell = job.cell
    model = registry.estimator(cell.algorithm, **dict(cell.params))
    if "random_state" in model.get_params() and "random_state" not in dict(cell.params):
        named = replace(cell, dataset=job.prepared.pools.data.name)
        own = () if job.together else ("algorithm",)
        chance = named.rng(*own, "dataset", "labels", "seed").integers(2**31)
        model.set_params(random_state=int(chance))
    return model


def _fit(jobs: Sequence[_Job], checkpoints: Path | None) -> None:
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


def _fit_together(jobs: Sequence[_Job], checkpoints: Path | None) -> None:
    parts: list[_Job | Fold] = [*jobs, *(fold for job in jobs for fold in job.folds)]
    models, rows = [part.model for part in parts], [part.problem for part in parts]
    try:
        with _no_fork_returns():
            errors = models[0].fit_together(models, rows, checkpoints=checkpoints)
    except BaseException as error:
        _let_through(error)
        errors = [error] * len(models)
    for part, failure in zip(parts, errors, strict=True):
        if failure is not None:
            part.fail(failure)


def _score(job: _Job, seconds: float, extras: Extras, keep_predictions: bool) -> Record:
    start = time.perf_counter()
    predicted = np.asarray(job.model.predict(job.split.X_test))
    seconds += time.perf_counter() - start
    aside = job.prepared.aside(views=job.together)
    for failure in (fold.error for fold in job.folds if fold.error is not None):
        warnings.warn(f"no scores out of fold: {_reason(failure)}", stacklevel=2)
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


def _at(job: _Job, record: Record, cell: Cell, extras: Extras) -> Record:
    """The record of one of the cells; unlabeled rows are those of its own t."""
    record = _of_cell(record, cell, len(job.cells))
    if not extras.criteria:
        return record
    at = job.split if cell == job.cell else job.prepared.split(cell.t, views=job.together)
    return replace(record, scores={**record.scores, **label_free(job.model, at)})
