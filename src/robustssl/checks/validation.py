"""Whether a submission is sound: whole, of the right versions, on the right rows, repeatable."""

import multiprocessing
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustssl import registry
from robustssl.cell import Cell
from robustssl.checks.carried import CODE, FILES, own_names
from robustssl.checks.repetition import not_repeated
from robustssl.checks.submissions import Submission, blocks, write_study
from robustssl.errors import InputError
from robustssl.execution.engines.processes import clean_start
from robustssl.execution.groups import fit_of
from robustssl.execution.provenance import provenance
from robustssl.records.record import Record
from robustssl.registry.trust import Trust, module_of, trusting
from robustssl.splits import prepare
from robustssl.studies.study import read_study


def freeze(folder: str | Path, commit: str | None = None, trust: Sequence[str] = ()) -> None:
    """Freeze a submission whose records are current: name the commit (the present one by default),
    and write down its cells. Of the modules that it names only those in `trust` are imported.
    """
    place = Path(folder).absolute()
    with trusting(trust), _inside(place, bool(trust)):
        _freeze(Submission.read(place), place, commit)


def _freeze(found: Submission, place: Path, commit: str | None) -> None:
    if found.frozen is not None:
        raise InputError(f"{place} is frozen already, at {found.frozen}")
    problems = [*_incomplete(found), *_outdated(found)]
    if problems:
        raise InputError(f"{place} cannot be frozen: {problems[0]}")
    commit = commit or provenance()["commit"]
    if commit is None or commit.endswith("-dirty"):
        raise InputError("name the commit: this code is not an unchanged checkout of one")
    document = read_study(place / "study.yaml")
    write_study({**document, "frozen": commit, "cells": blocks(list(found.cells))}, place)


def validate(
    folder: str | Path,
    sample: int = 10,
    random_state: int | None = None,
    tell: Callable[[str], None] = lambda sentence: None,
    trust: Sequence[str] = (),
) -> list[str]:
    """What is wrong with a submission, a sentence each; nothing if it is sound.

    `sample` cells are drawn at random and run again, those of nets with the whole of their curve;
    of a frozen submission only cells whose versions are the present ones. `tell` hears how many.

    Code that a submission names or carries is run only if its modules are in `trust`, and then in
    a process of its own.
    """
    if not trust:
        return _validate(folder, sample, random_state, (), tell)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as own:
        with clean_start():
            running = own.submit(_listening, folder, sample, random_state, tuple(trust))
        said, problems = running.result()
    for sentence in said:
        tell(sentence)
    return problems


def _listening(
    folder: str | Path, sample: int, random_state: int | None, trust: Sequence[str]
) -> tuple[list[str], list[str]]:
    said: list[str] = []
    return said, _validate(folder, sample, random_state, trust, said.append)


def _validate(
    folder: str | Path,
    sample: int,
    random_state: int | None,
    trust: Sequence[str],
    tell: Callable[[str], None],
) -> list[str]:
    place = Path(folder).absolute()
    with trusting(trust) as trusted, _inside(place, bool(trust)):
        try:
            found = Submission.read(place)
            return list(_problems(found, sample, random.Random(random_state), trusted, tell))
        except InputError as error:
            return [str(error)]


@contextmanager
def _inside(place: Path, with_code: bool) -> Iterator[None]:
    """Where the paths of a submission lead to the files that it carries, and its modules to the
    code that it carries.
    """
    registry.dataset.cache_clear()
    prepare.cache_clear()
    files, before = place / FILES, list(sys.path)
    sys.path[:0] = [str(place / CODE)] if with_code else []
    try:
        with chdir(files) if files.is_dir() else nullcontext():
            yield
    finally:
        sys.path[:] = before


def _problems(
    found: Submission,
    sample: int,
    chance: random.Random,
    trust: Trust,
    tell: Callable[[str], None],
) -> Iterator[str]:
    if found.frozen is None:
        found, refused = _trusted_part(found, trust)
        if refused:
            names = ", ".join(sorted(refused))
            yield (
                f"{sum(refused.values())} records cannot be checked: they are of {names}; --trust "
                "MODULE imports and runs that code"
            )
    current = [r for r in found.records if _is_current(r)]
    yield from _incomplete(found)
    if found.frozen is None:
        yield from _outdated(found)
        yield from _other_splits(found.records)
    else:
        yield from _mixed_versions(found)
        tell(
            f"frozen at {found.frozen}: {len(current):,} of {len(found.records):,} records are of "
            "the present versions"
        )
    yield from not_repeated(current, sample, chance)


def _trusted_part(found: Submission, trust: Trust) -> tuple[Submission, Counter[str]]:
    """A submission without the records of modules that are not trusted; and how many records there
    are of each.
    """
    refused: Counter[str] = Counter()
    known = []
    for record in found.records:
        names = [n for n in own_names(record.cell) if not trust.admits(module_of(n))]
        refused.update(names[:1])
        known += [] if names else [record]
    return replace(found, records=tuple(known)), refused


def _is_current(record: Record) -> bool:
    try:
        return record.error is None and record.versions == registry.versions(record.cell)
    except InputError:  # of something that is no longer here
        return False


def _mixed_versions(found: Submission) -> Iterator[str]:
    """Curves whose cells are not all of the same versions."""
    curves: dict[Any, set[Any]] = defaultdict(set)
    for record in found.records:
        curves[record.cell.spec, record.cell.task].add(record.versions)
    for (spec, task), versions in curves.items():
        if len(versions) > 1:
            yield f"{spec} on {task.name} mixes the versions {sorted(versions)}"


def _incomplete(found: Submission) -> Iterator[str]:
    """Cells that are missing, of no study, failed, altered or there twice."""
    expected = found.cells
    counts = Counter(record.cell for record in found.records)
    for cell, count in counts.items():
        if count > 1:
            yield f"{cell} is there {count} times"
        if cell not in expected:
            yield f"{cell} is not of the study"
    for record in found.records:
        if record.error is not None:
            yield f"{record.cell} failed: {record.error}"
        if record.method is None:
            yield f"the record of {record.cell} does not say what its method is"
    missing: dict[str, list[Cell]] = defaultdict(list)
    for cell in expected - set(counts):
        curve = f"{cell.spec} on {cell.dataset} in {cell.environment} ({cell.labels} labels)"
        missing[curve].append(cell)
    for curve, cells in sorted(missing.items()):
        seeds, ts = sorted({c.seed for c in cells}), sorted({c.t for c in cells})
        yield f"{len(cells)} cells of {curve} are missing: seeds {_list(seeds)}, t = {_list(ts)}"


def _list(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)


def _outdated(found: Submission) -> Iterator[str]:
    for record in found.records:
        then, now = tuple(record.versions), registry.versions(record.cell)
        if then != now:
            yield f"{record.cell} is of the versions {then}, now {now}: run it again"


def _other_splits(records: Sequence[Record]) -> Iterator[str]:
    """Rows that a cell was run on, against those it should have been."""
    splits: dict[tuple[Any, ...], str] = {}
    for record in records:
        cell = record.cell
        said = record.provenance.get("split_digest")
        answered = said is None and fit_of(cell) != cell  # by another cell, whose record has it
        if record.error is not None or answered:
            continue
        place = (cell.dataset, cell.environment, cell.labels, cell.seed, cell.t)
        if place not in splits:
            prepared = prepare(*place[:4])
            splits[place] = prepared.environment.split(prepared.pools, cell.t).digest
        if said != splits[place]:
            yield f"{cell} was run on another split: {said}, not {splits[place]}"
