"""Running the cells of a study that a store lacks: what it takes, doing it, how far it is."""

import hashlib
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ValidationError
from rich.console import Console

from robustssl import registry
from robustssl.cell import Cell
from robustssl.errors import InputError, unknown
from robustssl.execution.engines import local
from robustssl.execution.limits import Limits
from robustssl.execution.progress import watch
from robustssl.execution.worker import Group, are_nets, groups, run_group
from robustssl.records.store import Store, exists, failures, url_of
from robustssl.studies.study import CurveName, Study, study

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Status:
    """How far a study is in a store, or what a store holds. `failures` counts cells by reason,
    `logs` tells of one cell each where in the code it failed. `seconds` is the work done, `left`
    about the work that is missing. `studies` are those that were run in the store.
    """

    cells: int
    done: int
    missing: int
    stale: int
    seconds: float
    failures: Mapping[str, int] = field(default_factory=dict)
    left: float = 0.0
    logs: Mapping[str, str] = field(default_factory=dict)
    studies: tuple[tuple[str, "Status"], ...] = ()

    @property
    def failed(self) -> int:
        return sum(self.failures.values())


def status(store: str | Path, of: str | Path | Mapping[str, Any] | Study | None = None) -> Status:
    """What a store holds; with a study, of its cells alone and how many are missing."""
    with Store(store, create=False) as opened:
        bad = failures(opened.frame(failed_only=True))
        if of is not None:
            return _progress(_Outline.of(study(of)), opened, bad)
        outlines = _Outline.kept(opened)
        known = [(o.title, _progress(o, opened, bad)) for o in outlines if not o.is_part(outlines)]
        return _status(opened.totals(), bad, studies=tuple(known))


def _status(totals: pd.DataFrame, bad: pd.DataFrame, missing: int = 0, **more: Any) -> Status:
    good = totals[~totals.stale]
    done = int(good.cells.sum())
    logs = bad.dropna(subset="log").drop_duplicates("error")
    return Status(
        cells=done + len(bad) + missing,
        done=done,
        missing=missing,
        stale=int(totals[totals.stale].cells.sum()),
        seconds=float(good.seconds.sum()),
        failures=bad.error.value_counts().to_dict(),
        logs=dict(zip(logs.error, logs.log, strict=True)),
        **more,
    )


class _Outline(BaseModel):
    """What the progress of a study can be counted by, without looking up a single name; the store
    keeps it.
    """

    title: str
    curves: list[CurveName]
    ts: list[float]
    seeds: list[int]

    @classmethod
    def of(cls, chosen: Study) -> "_Outline":
        places = ", ".join([*chosen.environments, *chosen.datasets])
        title = chosen.title or f"{len(chosen.algorithms)} algorithms, {places}"
        return cls(title=title, curves=chosen.curves(), ts=chosen.ts, seeds=chosen.seeds)

    def keep(self, store: Store) -> None:
        digest = hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]
        store.note(f"study {digest}", self.model_dump())

    def is_part(self, others: "Sequence[_Outline]") -> bool:
        """Whether another has all of this, such as the same study with more seeds."""
        mine = self._parts()
        return any(
            all(a <= b for a, b in zip(mine, other._parts(), strict=True))
            and (mine != other._parts() or self.title < other.title)
            for other in others
        )

    def _parts(self) -> tuple[set[Any], ...]:
        return set(self.curves), set(self.ts), set(self.seeds)

    @classmethod
    def kept(cls, store: Store) -> "list[_Outline]":
        try:
            return [cls(**document) for document in store.notes("study ")]
        except (ValidationError, TypeError) as error:
            raise InputError(f"{store.place} holds a study that cannot be read: {error}") from error


def _progress(outline: _Outline, store: Store, bad: pd.DataFrame) -> Status:
    """How far a study is, counted by the database: a store may hold millions of records."""
    ts, seeds, names = outline.ts, outline.seeds, ["algorithm", "environment", "dataset", "labels"]
    curves = pd.MultiIndex.from_tuples(outline.curves, names=names)
    every = store.totals(ts, seeds)
    totals, bad = (
        frame[frame.set_index(names).index.isin(curves)]
        for frame in (every, bad[bad.t.isin(ts) & bad.seed.isin(seeds)])
    )
    known = pd.concat([totals[~totals.stale], bad.assign(cells=1)])
    counts = known.groupby(names).cells.sum().reindex(curves, fill_value=0)
    missing = len(ts) * len(seeds) - counts
    seconds = _seconds(every)
    tasks = [seconds.get(curve[:3], np.nan) for curve in curves]
    each = pd.Series(tasks, curves).fillna(np.mean(list(seconds.values()) or [0.0]))
    left = float((missing * each).sum())
    return _status(totals, bad, int(missing.sum()), left=left)


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
    here. A cell that takes more than `time_limit` seconds, or whose process would
    take more than `memory_limit` gigabytes, fails.
    """
    chosen = study(source)
    _refuse_impossible_options(chosen)
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if not 0 < gpu_share <= 1:
        raise InputError(f"gpu_share lies between 0 and 1, unlike {gpu_share:g}")
    if address is not None and engine != "ray":
        raise InputError("an address is that of a Ray cluster: add engine=ray (--engine ray)")
    limits = Limits(time_limit, memory_limit)
    with Store(store) as opened:
        _refuse_changed_files(chosen, opened)
        cells = missing_cells(chosen, opened, retry)
        _Outline.of(chosen).keep(opened)
        checkpoints = _checkpoints(store)
        work = partial(
            run_group,
            keep_predictions=keep_predictions,
            checkpoints=checkpoints,
            limits=limits,
        )
        waiting = _longest_first(groups(cells), _seconds(opened.totals()))
        count = _workers(workers, len(cells))
        if engine == "ray":
            from robustssl.execution.engines import ray

            results = ray.run_groups(waiting, work, count, address, gpu_share)
        else:
            nets = any(are_nets((cell,)) for cell in cells)
            gpus = local.gpus() * int(1 / gpu_share) if nets else []
            results = local.run_groups(waiting, work, count, gpus=gpus, limits=limits)
        with (
            watch(len(cells), Console(stderr=True, quiet=not progress)) as seen,
            closing(results),
        ):
            for records in results:
                opened.add_all(records)
                for record in records:
                    seen.step(record.error is not None)
    with suppress(OSError):
        checkpoints.rmdir()
    return status(store, chosen)


Task = tuple[str, str, str]


def _task(cell: Cell) -> Task:
    return cell.method, cell.environment, cell.dataset


def _seconds(totals: pd.DataFrame) -> dict[Task, float]:
    """What a cell of each task took on average, as far as a store knows."""
    present = totals[~totals.stale]
    return dict(present.groupby(["algorithm", "environment", "dataset"]).each.mean().to_dict())


def _longest_first(waiting: Iterable[Group], seconds: Mapping[Task, float]) -> Iterable[Group]:
    """So that no long group is left to the end; what is not known comes first, in its order."""
    if not seconds:
        return waiting

    def left(group: Group) -> float:
        return -len(group) * seconds.get(_task(group[0]), np.inf)

    return sorted(waiting, key=left)


def _checkpoints(store: str | Path) -> Path:
    """Beside a file; of a database, here."""
    return Path("robustssl.checkpoints" if url_of(store) else f"{store}.checkpoints").absolute()


def _refuse_impossible_options(chosen: Study) -> None:
    """What would fail every cell of a method, before the first."""
    for spec in chosen.algorithms:
        check = getattr(registry.estimator(spec), "_check_options", None)
        if check is not None:
            check()


def _refuse_changed_files(chosen: Study, store: Store) -> None:
    """A file of one's own must be the one that the store's records were made with."""
    for spec in chosen.datasets:
        if "path" in registry.parse(spec)[1]:
            known = store.digests(spec)
            if known and known != {registry.dataset(spec).sha256}:
                raise InputError(
                    f"{spec} has changed since the store's records were made: give the changed "
                    "file another name, or use another store"
                )


def missing_cells(chosen: Study, store: Store, retry: bool = False) -> list[Cell]:
    """The cells of a study that have no success and, unless `retry`, no failure."""
    known = store.done() if retry else store.done() | store.failed()
    return [cell for cell in chosen.cells() if cell.key not in known]


def _workers(asked: int | None, cells: int) -> int:
    if asked is not None and asked < 1:
        raise InputError(f"workers must be 1 or more, unlike {asked}")
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(asked or cores, max(cells, 1))


TRIAL_SECONDS = 10.0


@dataclass(frozen=True)
class Plan:
    """What a run would do, and about how long it would take."""

    cells: int
    done: int
    failed: int
    left: int
    workers: int
    seconds: float
    problems: tuple[str, ...]  # why cells that were tried failed


def plan(
    source: str | Path | Mapping[str, Any] | Study,
    store: str | Path = "robustssl.sqlite",
    *,
    workers: int | None = None,
    retry: bool = False,
) -> Plan:
    """How many cells a run would do, and about how long, from measured times; writes nothing.

    Where the store knows no time of an algorithm on a dataset in an environment, one cell is
    tried, for 10 seconds in all.
    """
    chosen = study(source)
    _refuse_impossible_options(chosen)
    every, cells, times = chosen.cells(), chosen.cells(), {}
    done = failed = 0
    if exists(store):
        with Store(store, create=False) as opened:
            _refuse_changed_files(chosen, opened)
            cells = missing_cells(chosen, opened, retry)
            keys, times = {cell.key for cell in every}, _seconds(opened.totals())
            done, failed = len(keys & opened.done()), len(keys & opened.failed())
    tasks: dict[Task, list[Cell]] = defaultdict(list)
    for cell in cells:
        tasks[_task(cell)].append(cell)
    tried, problems = _trial({k: v for k, v in tasks.items() if k not in times})
    times = {**times, **tried}
    typical = sum(times.values()) / len(times) if times else 0.0
    total = sum(len(group) * times.get(task, typical) for task, group in tasks.items())
    count = _workers(workers, len(cells))
    return Plan(len(every), done, failed, len(cells), count, total / count, problems)


def _trial(tasks: Mapping[Task, Sequence[Cell]]) -> tuple[dict[Task, float], tuple[str, ...]]:
    """Seconds a cell, from one group of each task until the time is up, and the errors met."""
    times, problems, start = {}, dict[str, None](), time.monotonic()
    for task, cells in tasks.items():
        if time.monotonic() - start > TRIAL_SECONDS:
            break
        group, share = _brief(next(groups(cells)))
        began = time.perf_counter()
        error = run_group(group)[0].error
        times[task] = (time.perf_counter() - began) / len(group) / share
        problems |= {error: None} if error else {}
    return times, tuple(problems)


def _brief(group: Group, steps: int = 20) -> tuple[Group, float]:
    """The group, trained for a few steps if it counts them, and the share that these are."""
    all_steps = getattr(registry.estimator(group[0].algorithm, **dict(group[0].params)), "steps", 0)
    if not hasattr(registry.algorithm(group[0].algorithm), "fit_together") or all_steps <= steps:
        return group, 1.0
    params = tuple(sorted({**dict(group[0].params), "steps": steps}.items()))
    return tuple(replace(cell, params=params) for cell in group), steps / all_steps
