"""What a run would do, and about how long it would take."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from robustssl import registry
from robustssl.cell import Cell
from robustssl.encoders import only_kept
from robustssl.execution.engines import local
from robustssl.execution.groups import Group, are_nets, groups, is_net
from robustssl.execution.pace import Pace
from robustssl.execution.run import (
    count_workers,
    missing_cells,
    refuse_changed_files,
    refuse_impossible_options,
    refuse_impossible_tasks,
)
from robustssl.execution.status import Place, place_of, seconds_a_cell, totals_of
from robustssl.execution.timing import TimeLeft
from robustssl.execution.worker import run_group
from robustssl.records.extras import NO_EXTRAS, Extras
from robustssl.records.record import Record
from robustssl.records.store import Store, exists
from robustssl.registry.trust import trusting
from robustssl.spec import parse
from robustssl.studies.study import Study, study

TRIAL_SECONDS = 10.0
STEPS = 5, 20  # of the nets that are tried


@dataclass(frozen=True)
class Plan:
    """What a run would do, and about how long it would take."""

    cells: int
    done: int
    failed: int
    left: int
    workers: int
    seconds: float | None  # None if it is not known
    problems: tuple[str, ...]  # why cells that were tried failed
    baselines: tuple[str, ...] = ()  # that come along, since methods of the study name them
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
            times = seconds_a_cell(totals_of(opened.counts(extras=chosen.extras)))
            keys = {registry.key(cell) for cell in every}
            done, failed = len(keys & opened.done(chosen.extras)), len(keys & opened.failed())
    refuse_impossible_tasks(cells)
    count = count_workers(workers, len(cells))
    pace = Pace(times, count)
    problems = _trial(cells, times, pace, count, chosen.extras)
    seconds = TimeLeft(groups(cells), pace, count, clock=lambda: 0.0).estimate()
    baselines = _that_run(chosen)
    return Plan(len(every), done, failed, len(cells), count, seconds, problems, baselines)


def _that_run(chosen: Study) -> tuple[str, ...]:
    """The baselines that come along and are not left out again."""
    names = {chosen.methods[method].name for method, _ in chosen.curves()}
    return tuple(name for name in chosen.baselines if name in names)


def _trial(
    cells: Sequence[Cell],
    known: Mapping[Place, float],
    pace: Pace,
    workers: int,
    extras: Extras = NO_EXTRAS,
) -> tuple[str, ...]:
    """Run one group of each place of unknown length, of a middle t, until the time is up; the
    errors met. First comes every algorithm once, nets after the others, then every one with other
    options, or in another environment or dataset, and so on.
    """
    unknown: dict[Place, list[Group]] = {}
    for group in groups(cells):
        if place_of(group[0]) not in known:
            unknown.setdefault(place_of(group[0]), []).append(group)
    before: Counter[str] = Counter()
    turns = {}
    for place in unknown:
        algorithm, _ = parse(place[0])
        turns[place] = before[algorithm], is_net(algorithm)
        before[algorithm] += 1
    ends: list[float] = []

    def waiting() -> Iterator[Group]:
        for place in sorted(unknown, key=turns.__getitem__):
            if ends and time.monotonic() > ends[0]:
                return
            by_t = sorted(unknown[place], key=lambda group: group[0].t)
            yield by_t[len(by_t) // 2]

    problems: dict[str, None] = {}
    work = partial(try_group, extras=extras)
    with closing(local.run_groups(waiting(), work, workers)) as results:
        for records, seconds in results:
            ends = ends or [time.monotonic() + TRIAL_SECONDS]
            pace.learn(records, seconds)
            problems |= {record.error: None for record in records if record.error}
    return tuple(problems)


def try_group(group: Group, extras: Extras = NO_EXTRAS) -> list[Record]:
    """The records of a group; rows that are not encoded yet are not encoded for it. Nets are
    trained for a few steps and for some more, from which follows what all steps take; before that
    for a few that do not count, since the first training in a process is slower.
    """
    with only_kept():
        return _try(group, extras)


def _try(group: Group, extras: Extras) -> list[Record]:
    model = registry.estimator(group[0].algorithm, **dict(group[0].params))
    steps = getattr(model, "steps", 0)
    if not are_nets(group) or steps <= STEPS[1]:
        return run_group(group, extras)
    _, less, more = (run_group(_with_steps(group, count), extras) for count in (STEPS[0], *STEPS))
    return [
        replace(b, cell=cell, seconds=_extrapolated(a.seconds, b.seconds, steps))
        for cell, a, b in zip(group, less, more, strict=True)
    ]


def _extrapolated(less: float, more: float, steps: int) -> float:
    """The seconds of all steps, which grow in proportion; the rest, such as a start, does not. On a
    busy machine a difference may be chance, but steps cannot take more than all that was taken.
    """
    each = min(max(more - less, 0.0) / (STEPS[1] - STEPS[0]), more / STEPS[1])
    return more + each * (steps - STEPS[1])


def _with_steps(group: Group, steps: int) -> Group:
    params = tuple(sorted({**dict(group[0].params), "steps": steps}.items()))
    return tuple(replace(cell, params=params) for cell in group)
