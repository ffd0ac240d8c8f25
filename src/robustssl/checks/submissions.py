"""Submissions: the records of a study as files that others can check and repeat.

A submission is a folder of two files: `study.yaml`, which says which cells there are and how they
were run, and `records.jsonl.gz`, which holds a success of each.
"""

import gzip
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robustssl import registry
from robustssl.cell import Cell
from robustssl.errors import InputError
from robustssl.execution.groups import are_nets, groups
from robustssl.execution.worker import run_group
from robustssl.records.files import read_records
from robustssl.records.places import shown
from robustssl.records.record import Record
from robustssl.records.store import Store
from robustssl.splits import prepare
from robustssl.studies.study import Study, study

_RECORDS = "records.jsonl.gz"
# Training turns the rounding of another device into other nets: as good on average, not each.
NOISE = 0.03  # by which the mean score of a curve of nets may differ
GROSS = 0.25  # by which that of one net may


def submit(
    source: str | Path | Mapping[str, Any] | Study,
    store: str | Path = "robustssl.sqlite",
    folder: str | Path = "results",
    name: str | None = None,
) -> Path:
    """Pack the records of a study into FOLDER/NAME; refused unless every cell has a success."""
    chosen = study(source)
    keys = {registry.key(cell): cell for cell in chosen.cells()}
    with Store(store, create=False) as opened:
        records = [r for r in opened.records() if r.error is None and r.key in keys]
    if len(records) < len(keys):
        raise InputError(
            f"{len(keys) - len(records)} of {len(keys)} cells have no success in {shown(store)}: "
            "`robustssl run` and `robustssl status` tell more"
        )
    place = Path(folder) / (name or _named(source, chosen))
    if place.exists():
        raise InputError(f"{place} is there already; give the submission another name")
    place.mkdir(parents=True)
    document = {"command": f"robustssl run {place.name}/study.yaml", **_document(chosen)}
    (place / "study.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    lines = [record.to_json() + "\n" for record in sorted(records, key=lambda r: r.cell)]
    (place / _RECORDS).write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    return place


def _named(source: Any, chosen: Study) -> str:
    text = Path(source).stem if isinstance(source, str | Path) else chosen.title
    words = "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")
    if not words:
        raise InputError("give the submission a name")
    return words


def _document(chosen: Study) -> dict[str, Any]:
    """The study without what is left at its default, or follows from its parts."""
    implied = {"algorithms", "environments", "datasets"} if chosen.parts else set()
    document = {
        name: value
        for name, value in chosen.model_dump().items()
        if value != type(chosen).model_fields[name].get_default() and name not in implied
    }
    return {**document, "parts": list(map(_document, chosen.parts))} if chosen.parts else document


@dataclass(frozen=True)
class Submission:
    """A study and the records that are said to be of it."""

    study: Study
    records: tuple[Record, ...]

    @classmethod
    def read(cls, folder: str | Path) -> "Submission":
        place = Path(folder)
        for name in ("study.yaml", _RECORDS):
            if not (place / name).is_file():
                raise InputError(f"{place} is no submission: it lacks {name}")
        document = yaml.safe_load((place / "study.yaml").read_text(encoding="utf-8"))
        if not isinstance(document, dict):
            raise InputError(f"{place / 'study.yaml'} holds no study")
        document.pop("command", None)
        return cls(study(document), tuple(read_records(place / _RECORDS)))


def validate(folder: str | Path, sample: int = 10, random_state: int | None = None) -> list[str]:
    """What is wrong with a submission, a sentence each; nothing if it is sound.

    `sample` cells are drawn at random and run again; those of nets with the whole of their curve.
    """
    try:
        found = Submission.read(folder)
    except InputError as error:
        return [str(error)]
    problems = [*_incomplete(found), *_outdated(found), *_other_splits(found)]
    return [*problems, *_not_repeated(found, sample, random.Random(random_state))]


def _incomplete(found: Submission) -> Iterator[str]:
    """Cells that are missing, foreign, failed or there twice."""
    expected = set(found.study.cells())
    counts = Counter(record.cell for record in found.records)
    for cell, count in counts.items():
        if count > 1:
            yield f"{_told(cell)} is there {count} times"
        if cell not in expected:
            yield f"{_told(cell)} is not of the study"
    for record in found.records:
        if record.error is not None:
            yield f"{_told(record.cell)} failed: {record.error}"
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
            yield f"{_told(record.cell)} is of the versions {then}, now {now}: run it again"


def _other_splits(found: Submission) -> Iterator[str]:
    """Rows that a cell was run on, against those it should have been."""
    splits: dict[tuple[Any, ...], str] = {}
    for record in found.records:
        cell = record.cell
        said = record.provenance.get("split_digest")
        if record.error is not None or (said is None and _answers_for_another(cell, found.study)):
            continue
        place = (cell.dataset, cell.environment, cell.labels, cell.seed, cell.t)
        if place not in splits:
            prepared = prepare(*place[:4])
            splits[place] = prepared.environment.split(prepared.pools, cell.t).digest
        if said != splits[place]:
            yield f"{_told(cell)} was run on another split: {said}, not {splits[place]}"


def _answers_for_another(cell: Cell, chosen: Study) -> bool:
    """Whether one fit answers for it and another t, whose record has the digest."""
    supervised = getattr(registry.algorithm(cell.algorithm), "supervised", False)
    return bool(supervised) and cell.t != min(chosen.ts)


def _not_repeated(found: Submission, sample: int, chance: random.Random) -> Iterator[str]:
    """Scores of cells that are run again here."""
    known = {r.cell: r for r in found.records if r.error is None}
    whole = list(groups(sorted(known)))
    for group in chance.sample(whole, min(sample, len(whole))):
        pairs = [(known[again.cell], again) for again in run_group(group)]
        near = GROSS if are_nets(group) else 1e-9
        for record, again in pairs:
            yield from _differences(record, again, near)
        if are_nets(group):
            yield from _mean_differences(pairs)


def _differences(record: Record, again: Record, near: float) -> Iterator[str]:
    if again.error is not None:
        yield f"{_told(again.cell)} fails here: {again.error}"
        return
    for name, score in again.scores.items():
        said = record.scores.get(name)
        if said is None or abs(said - score) > near:
            yield f"{_told(again.cell)} has the {name} {said}, and {score} when it is run again"


def _mean_differences(pairs: Sequence[tuple[Record, Record]]) -> Iterator[str]:
    first = pairs[0][0].cell
    shared = set.intersection(*({*a.scores} & {*b.scores} for a, b in pairs))
    for name in sorted(shared):
        said, found = (np.mean([r.scores[name] for r in side]) for side in zip(*pairs, strict=True))
        if abs(said - found) > NOISE:
            yield (
                f"{first.spec} on {first.dataset} in {first.environment} ({first.labels} labels) "
                f"has the {name} {said:.4f} on average, and {found:.4f} when it is run again"
            )


def _told(cell: Cell) -> str:
    return (
        f"{cell.spec} on {cell.dataset} in {cell.environment} ({cell.labels} labels, "
        f"t = {cell.t:g}, seed {cell.seed})"
    )
