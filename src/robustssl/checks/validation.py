"""Whether a submission is sound: whole, of the right versions, on the right rows, repeatable."""

import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from robustssl import registry
from robustssl.checks.carried import CODE, FILES, own_names
from robustssl.checks.completeness import (
    incomplete,
    is_current,
    mixed_versions,
    other_methods,
    other_splits,
    outdated,
)
from robustssl.checks.repetition import not_repeated
from robustssl.checks.submissions import Submission, blocks, write_study
from robustssl.errors import InputError
from robustssl.execution.engines.processes import clean_start
from robustssl.execution.provenance import provenance
from robustssl.registry.trust import Trust, module_of, trusting
from robustssl.splits import prepare
from robustssl.studies.files import read_study


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
    problems = [*incomplete(found), *outdated(found)]
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
    current = [r for r in found.records if is_current(r)]
    yield from incomplete(found)
    if found.frozen is None:
        yield from outdated(found)
        yield from other_splits(found.records)
    else:
        yield from mixed_versions(found)
        tell(
            f"frozen at {found.frozen}: {len(current):,} of {len(found.records):,} records are of "
            "the present versions"
        )
        searched = sum(
            1 for r in found.records if r.method and r.method.configuration and not is_current(r)
        )
        if searched:
            tell(
                f"whether {searched:,} records of other versions have the settings drawn for the "
                "numbers of their configurations is not known"
            )
    yield from other_methods(current)
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
