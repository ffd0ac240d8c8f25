"""Whether a submission holds what its study asks for: every cell once, of the right versions and
settings, on the right rows.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from robustssl import registry
from robustssl.cell import Cell
from robustssl.checks.submissions import Submission
from robustssl.errors import InputError
from robustssl.execution.groups import fit_of
from robustssl.method import Method
from robustssl.records.record import Record
from robustssl.registry.searches import configuration
from robustssl.splits import prepare


def is_current(record: Record) -> bool:
    try:
        return record.error is None and record.versions == registry.versions(record.cell)
    except InputError:  # of something that is no longer here
        return False


def mixed_versions(found: Submission) -> Iterator[str]:
    """Curves whose cells are not all of the same versions."""
    curves: dict[Any, set[Any]] = defaultdict(set)
    for record in found.records:
        curves[record.cell.spec, record.cell.task].add(record.versions)
    for (spec, task), versions in curves.items():
        if len(versions) > 1:
            yield f"{spec} on {task.name} mixes the versions {sorted(versions)}"


def incomplete(found: Submission) -> Iterator[str]:
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


def outdated(found: Submission) -> Iterator[str]:
    for record in found.records:
        then, now = tuple(record.versions), registry.versions(record.cell)
        if then != now:
            yield f"{record.cell} is of the versions {then}, now {now}: run it again"


def other_methods(records: Sequence[Record]) -> Iterator[str]:
    """Records that describe another method than theirs; in a search, that have another setting than
    the one drawn for their number. Of versions that are not present ones this is not known.
    """
    counts = Counter((record.method, record.cell.spec) for record in records if record.method)
    for (said, spec), count in counts.items():
        number = "" if said.configuration is None else f", configuration {said.configuration}"
        whose = f"{count} records of {spec} say that their method is {said.name}{number}"
        try:
            known = _known(said)
        except InputError as error:
            yield f"{whose}: {error}"
            continue
        if known.spec != spec:
            yield f"{whose}, which is {known.spec}"
        for name in (field.name for field in fields(Method)):
            if getattr(said, name) != getattr(known, name):
                yield f"{whose}, with the {name} {getattr(said, name)}, not {getattr(known, name)}"


def _known(said: Method) -> Method:
    """The method that a name, a budget and the number of a configuration stand for."""
    if said.configuration is None:
        return registry.describe(said.name, said.budget)
    return configuration(said.name, said.budget, said.configuration)


def other_splits(records: Sequence[Record]) -> Iterator[str]:
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
