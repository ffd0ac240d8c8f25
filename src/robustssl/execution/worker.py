"""A group of cells -> records: split, features, fit, score. `run_group` never raises."""

import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from robustssl import registry
from robustssl.cell import Cell
from robustssl.data import digest
from robustssl.errors import InputError, bounded
from robustssl.execution.groups import Group, are_nets, fit_of
from robustssl.execution.limits import UNLIMITED, Limits, OverTime
from robustssl.execution.provenance import provenance
from robustssl.execution.scores import accuracy_there, detection_of, scores_of
from robustssl.records.record import Record
from robustssl.spec import parse
from robustssl.splits import prepare


def run_group(
    group: Group,
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
                return _run_group(group, keep_predictions, checkpoints)
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


def _run_group(group: Group, keep_predictions: bool, checkpoints: Path | None) -> list[Record]:
    alike: dict[Cell, list[Cell]] = {}
    for cell in group:
        alike.setdefault(fit_of(cell), []).append(cell)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        records = _run([cells[0] for cells in alike.values()], keep_predictions, checkpoints)
    notes = dict.fromkeys(bounded(f"{w.category.__name__}: {w.message}") for w in caught)
    return [
        _of_cell(replace(record, warnings=tuple(notes)), cell, len(cells))
        for record, cells in zip(records, alike.values(), strict=True)
        for cell in cells
    ]


def _of_cell(record: Record, cell: Cell, count: int) -> Record:
    """The record of one of the cells that a fit answers; the digest is of the rows it saw."""
    known = {k: v for k, v in record.provenance.items() if k != "split_digest"}
    made_with = record.provenance if cell == record.cell else known
    return replace(record, cell=cell, seconds=record.seconds / count, provenance=made_with)


@dataclass(eq=False)
class _Job:
    """A cell on its way to a record."""

    cell: Cell
    made_with: dict[str, Any]
    model: Any = None
    split: Any = None
    pools: Any = None
    aside: Any = None
    record: Record | None = None

    @contextmanager
    def failing(self) -> Iterator[None]:
        """What goes wrong inside is the record."""
        try:
            with _no_fork_returns():
                yield
        except BaseException as error:
            _let_through(error)
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.record = _failure(self.cell, error, self.made_with)


def _let_through(error: BaseException) -> None:
    """What is not of the cell: its time is over, or a person stops the run in this process."""
    if _of_a_person(error) or isinstance(error, OverTime):
        raise error


def _of_a_person(error: BaseException) -> bool:
    """Whether it is Ctrl-C; worker processes do not hear it."""
    return isinstance(error, KeyboardInterrupt) and multiprocessing.parent_process() is None


def _failure(cell: Cell, error: BaseException, made_with: Mapping[str, Any]) -> Record:
    try:
        reason = bounded(f"{type(error).__name__}: {error}")
    except Exception:
        reason = f"{type(error).__name__}, which cannot say why"
    log = "".join(traceback.format_exception(error))
    method = registry.describe(cell.spec)
    versions = registry.versions(cell)
    return Record(cell, versions, error=reason, provenance=made_with, log=log, method=method)


def _run(cells: Sequence[Cell], keep_predictions: bool, checkpoints: Path | None) -> list[Record]:
    jobs = [_Job(cell, dict(provenance())) for cell in cells]
    for job in jobs:
        with job.failing():
            _prepare(job)
    able = [job for job in jobs if job.record is None]
    start = time.perf_counter()
    _fit(able, checkpoints)
    seconds = (time.perf_counter() - start) / max(len(able), 1)
    for job in able:
        if job.record is None:
            with job.failing():
                job.record = _score(job, seconds, keep_predictions)
    return [job.record for job in jobs if job.record is not None]


def _prepare(job: _Job) -> None:
    """The model, and the rows it is fitted to. Models that are fitted together share their chance
    with those of other algorithms: start, labeled batches and views differ by the method alone.
    """
    cell = job.cell
    prepared = prepare(cell.dataset, cell.environment, cell.labels, cell.seed)
    together = are_nets((cell,))
    job.split = prepared.split(cell.t, views=together)
    job.pools = prepared.pools
    job.aside = prepared.aside(views=together)
    job.model = registry.estimator(cell.algorithm, **dict(cell.params))
    if "random_state" in job.model.get_params() and "random_state" not in dict(cell.params):
        named = replace(cell, dataset=job.pools.data.name)
        own = () if together else ("algorithm",)
        chance = named.rng(*own, "dataset", "labels", "seed").integers(2**31)
        job.model.set_params(random_state=int(chance))
    data = job.pools.data
    job.made_with["data"] = {"name": data.name, "kind": data.kind}
    job.made_with["dataset_sha256"] = registry.dataset(cell.dataset).sha256
    job.made_with["split_digest"] = job.split.digest


def _fit(jobs: Sequence[_Job], checkpoints: Path | None) -> None:
    if jobs and are_nets((jobs[0].cell,)):
        models, rows = [job.model for job in jobs], [(job.split.X, job.split.y) for job in jobs]
        try:
            with _no_fork_returns():
                errors = jobs[0].model.fit_together(models, rows, checkpoints=checkpoints)
        except BaseException as error:
            _let_through(error)
            errors = [error] * len(jobs)
        for job, failure in zip(jobs, errors, strict=True):
            if failure is not None:
                job.fail(failure)
        return
    for job in jobs:
        with job.failing():
            job.model.fit(job.split.X, job.split.y)


def _score(job: _Job, seconds: float, keep_predictions: bool) -> Record:
    start = time.perf_counter()
    predicted = np.asarray(job.model.predict(job.split.X_test))
    seconds += time.perf_counter() - start
    scores = {
        **scores_of(job.model, job.split, predicted),
        **detection_of(job.model, job.split, job.aside),
        **accuracy_there(job.model, job.pools, job.aside),
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
    )
    record.to_json()  # an error here is of this cell; where it is stored, it would end the run
    return record
