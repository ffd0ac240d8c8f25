"""Running the cells of a study that a store lacks."""

import os
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from rich.console import Console

from robustssl import registry
from robustssl.cell import Cell, Task
from robustssl.encoders import NotEncodedError, only_kept
from robustssl.errors import InputError, unknown
from robustssl.execution.banks import make_banks
from robustssl.execution.begun import Desk
from robustssl.execution.engines import local
from robustssl.execution.groups import are_nets, groups
from robustssl.execution.limits import Limits
from robustssl.execution.pace import Pace
from robustssl.execution.status import (
    Outline,
    Status,
    seconds_a_cell,
    status,
    totals_of,
)
from robustssl.execution.timing import TimeLeft, in_order
from robustssl.execution.worker import run_group
from robustssl.progress import watch
from robustssl.records.places import url_of
from robustssl.records.store import Store
from robustssl.spec import parse
from robustssl.splits import pools
from robustssl.studies.study import Study, study

ENGINES = ("local", "ray")


def run(
    source: str | Path | Mapping[str, Any] | Study,
    store: str | Path = "robustssl.sqlite",
    *,
    workers: int | None = None,
    retry: bool = False,
    keep_predictions: bool = False,
    progress: bool = True,
    engine: str = "local",
    address: str | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    gpu_share: float = 1.0,
) -> Status:
    """Run the cells of a study that the store lacks, and say how it stands then.

    Every group of cells is committed the moment it is done, so a run that is killed goes on where
    it was. Cells that failed are left alone unless `retry`. `workers` is the number of processes
    (all cores by default); with GPUs, one more for each trains the nets, or several that have a
    `gpu_share` each. `engine` is local, or ray: a running cluster by its `address`, or one started
    here. A cell whose record lacks what the study asks for (`cross_validate`, `keep`) is run again,
    and the new record takes its place. A cell that takes more than `time_limit` seconds, or whose
    process would take more than `memory_limit` gigabytes, fails.
    """
    chosen = study(source)
    refuse_impossible_options(chosen)
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if not 0 < gpu_share <= 1:
        raise InputError(f"gpu_share must be above 0 and at most 1, got {gpu_share:g}")
    if address is not None and engine != "ray":
        raise InputError("an address is that of a Ray cluster: add engine=ray (--engine ray)")
    limits = Limits(time_limit, memory_limit)
    with Store(store) as opened:
        refuse_changed_files(chosen, opened)
        cells = missing_cells(chosen, opened, retry)
        refuse_impossible_tasks(cells)
        Outline.of(chosen).keep(opened)
        checkpoints = _checkpoints(store)
        work = partial(
            run_group,
            extras=chosen.extras,
            keep_predictions=keep_predictions,
            checkpoints=checkpoints,
            limits=limits,
        )
        count, gpus, desk = count_workers(workers, len(cells)), list[str](), Desk()
        pace = Pace(seconds_a_cell(totals_of(opened.counts(extras=chosen.extras))), count)
        waiting = in_order(cells, pace)
        if engine == "ray":
            from robustssl.execution.engines import ray

            results = ray.run_groups(waiting, work, count, address, gpu_share)
        else:
            nets = any(are_nets((cell,)) for cell in cells)
            gpus = local.gpus() * int(1 / gpu_share) if nets else gpus
            make_banks(cells, gpus[0] if gpus else None, progress)
            desk = Desk(local.in_flight(count, len(gpus)))
            results = local.run_groups(waiting, work, count, gpus=gpus, limits=limits, desk=desk)
        left = TimeLeft(groups(cells), pace, count, len(gpus), begun=desk.begun)
        console = Console(stderr=True, quiet=not progress)
        with watch(len(cells), console, left=left.seconds) as seen, closing(results):
            for records, seconds in results:
                opened.add_all([replace(r, method=chosen.methods[r.cell.spec]) for r in records])
                left.done(records, seconds)
                for record in records:
                    seen.step(record.error is not None)
    with suppress(OSError):
        checkpoints.rmdir()
    return status(store, chosen)


def _checkpoints(store: str | Path) -> Path:
    """The folder of checkpoints: beside the file of a store, or in the present folder."""
    return Path("robustssl.checkpoints" if url_of(store) else f"{store}.checkpoints").absolute()


def refuse_impossible_options(chosen: Study) -> None:
    """Refuse options that would make every cell of a method fail."""
    for spec in dict.fromkeys(method for method, _ in chosen.curves()):
        check = getattr(registry.estimator(spec), "_check_options", None)
        if check is not None:
            check()


def refuse_impossible_tasks(cells: Iterable[Cell]) -> None:
    """Refuse tasks whose rows cannot be dealt as the environment asks."""
    for task, seed in {cell.task: cell.seed for cell in reversed(list(cells))}.items():
        if (reason := _why_impossible(task, seed)) is not None:
            raise InputError(f"{task.name}: {reason}")


def _why_impossible(task: Task, seed: int) -> str | None:
    """Why there are no splits. Data that cannot be had, and errors in code of others, are left to
    the records of the cells; rows that must be encoded first are not encoded here.
    """
    with suppress(Exception):
        registry.dataset(task.dataset)
        try:
            with only_kept():
                pools(task.dataset, task.environment, cast(int, task.labels), seed)
        except InputError as error:
            return None if isinstance(error, NotEncodedError) else str(error)
    return None


def refuse_changed_files(chosen: Study, store: Store) -> None:
    """Refuse a user's data file that has changed since the records in the store were made."""
    for spec in chosen.datasets:
        if "path" in parse(spec)[1]:
            known = store.digests(spec)
            if known and known != {registry.dataset(spec).sha256}:
                raise InputError(
                    f"{spec} has changed since the store's records were made: give the changed "
                    "file another name, or use another store"
                )


def missing_cells(chosen: Study, store: Store, retry: bool = False) -> list[Cell]:
    """The cells of a study that have no success with what the study asks of its records and,
    unless `retry`, no failure.
    """
    done = store.done(chosen.extras)
    known = done if retry else done | store.failed()
    return [cell for cell in chosen.cells() if registry.key(cell) not in known]


def count_workers(asked: int | None, cells: int) -> int:
    if asked is not None and asked < 1:
        raise InputError(f"workers must be at least 1, got {asked}")
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(asked or cores, max(cells, 1))
