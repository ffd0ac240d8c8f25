"""What a run would do, and about how long it would take."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robustssl import registry
from robustssl.cell import Cell
from robustssl.execution.groups import Group, are_nets, groups
from robustssl.execution.run import (
    count_workers,
    missing_cells,
    refuse_changed_files,
    refuse_impossible_options,
)
from robustssl.execution.status import Place, place_of, seconds_a_cell, totals_of
from robustssl.execution.worker import run_group
from robustssl.records.store import Store, exists
from robustssl.registry.trust import trusting
from robustssl.studies.study import Study, study

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
    uncounted: tuple[str, ...] = ()  # what the study names in modules that are not trusted


def plan(
    source: str | Path | Mapping[str, Any] | Study,
    store: str | Path = "robustssl.sqlite",
    *,
    workers: int | None = None,
    retry: bool = False,
    trust: Iterable[str] = (),
) -> Plan:
    """How many cells a run would do, and about how long, from measured times; writes nothing.

    Where the store knows no time of an algorithm on a dataset in an environment, one cell is
    tried, for 10 seconds in all. Of the modules that the study names only those in `trust` are
    imported; what the others hold is not counted.
    """
    with trusting(trust) as trusted:
        found = _plan(study(source), store, workers, retry)
    return replace(found, uncounted=tuple(trusted.refused))


def _plan(chosen: Study, store: str | Path, workers: int | None, retry: bool) -> Plan:
    refuse_impossible_options(chosen)
    every, cells, times = chosen.cells(), chosen.cells(), {}
    done = failed = 0
    if exists(store):
        with Store(store, create=False) as opened:
            refuse_changed_files(chosen, opened)
            cells = missing_cells(chosen, opened, retry)
            times = seconds_a_cell(totals_of(opened.counts()))
            keys = {registry.key(cell) for cell in every}
            done, failed = len(keys & opened.done()), len(keys & opened.failed())
    tasks: dict[Place, list[Cell]] = defaultdict(list)
    for cell in cells:
        tasks[place_of(cell)].append(cell)
    tried, problems = _trial({k: v for k, v in tasks.items() if k not in times})
    times = {**times, **tried}
    typical = sum(times.values()) / len(times) if times else 0.0
    total = sum(len(group) * times.get(task, typical) for task, group in tasks.items())
    count = count_workers(workers, len(cells))
    return Plan(len(every), done, failed, len(cells), count, total / count, problems)


def _trial(tasks: Mapping[Place, Sequence[Cell]]) -> tuple[dict[Place, float], tuple[str, ...]]:
    """Run one group of each task until the time is up: seconds a cell, and the errors met."""
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
    """The group with fewer training steps, if it has steps, and their share of all steps."""
    all_steps = getattr(registry.estimator(group[0].algorithm, **dict(group[0].params)), "steps", 0)
    if not are_nets(group) or all_steps <= steps:
        return group, 1.0
    params = tuple(sorted({**dict(group[0].params), "steps": steps}.items()))
    return tuple(replace(cell, params=params) for cell in group), steps / all_steps
