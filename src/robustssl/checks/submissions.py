"""Submissions: the records of a study as files that others can check and repeat.

A submission is a folder of two files: `study.yaml`, which says which cells there are and how they
were run, and `records.jsonl.gz`, which holds a success of each; and of the modules and data files
of one's own that the study names, in `code` and `files`. One that is frozen is kept as it is
when the code moves on: its study.yaml names the last commit under which its records were current
and lists its cells, so that nothing of it is expanded or drawn by present code.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from robustssl import registry
from robustssl.cell import Cell
from robustssl.checks.carried import CODE, FILES, carry
from robustssl.errors import InputError, printable
from robustssl.records.files import pack, read_records
from robustssl.records.places import shown
from robustssl.records.record import UNREADABLE, Record
from robustssl.records.store import Store
from robustssl.spec import parse
from robustssl.studies.files import read_study
from robustssl.studies.study import Study, study

_RECORDS = "records.jsonl.gz"


def submit(
    source: str | Path | Mapping[str, Any] | Study,
    store: str | Path = "robustssl.sqlite",
    folder: str | Path = "results",
    name: str | None = None,
) -> Path:
    """Pack the records of a study into FOLDER/NAME; refused unless every cell has a success. Bits
    of test rows stay in the store: they would make the files of all submissions too large.
    """
    chosen = study(source)
    keys = {registry.key(cell) for cell in chosen.cells()}
    with Store(store, create=False) as opened:
        found = (r for r in opened.records() if r.error is None and r.key in keys)
        records = [replace(record, bits=None) for record in found]
    if len(records) < len(keys):
        raise InputError(
            f"{len(keys) - len(records)} of {len(keys)} cells have no success in {shown(store)}: "
            "`robustssl run` and `robustssl status` tell more"
        )
    place = Path(folder) / _checked(name or _named(source, chosen))
    if place.exists():
        raise InputError(f"{place} is there already; give the submission another name")
    place.mkdir(parents=True)
    carried = {name: names for name, names in asdict(carry(chosen, place)).items() if names}
    document = {"command": _command(place), **carried, **_document(chosen)}
    write_study(document, place)
    pack(records, place / _RECORDS)
    return place


def _command(place: Path) -> str:
    """What runs a submission again, from the folder in which it lies."""
    study_file, steps = f"{place.name}/study.yaml", []
    if (place / FILES).is_dir():
        study_file, steps = "../study.yaml", [f"cd {place.name}/{FILES} &&"]
    if (place / CODE).is_dir():
        steps.append(f"PYTHONPATH={'../' if steps else f'{place.name}/'}{CODE}")
    return " ".join([*steps, f"robustssl run {study_file}"])


def _named(source: Any, chosen: Study) -> str:
    text = Path(source).stem if isinstance(source, str | Path) else chosen.title
    words = "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")
    if not words:
        raise InputError("give the submission a name")
    return words


def _checked(name: str) -> str:
    """A name that stays inside of the folder of submissions."""
    if name != Path(name).name or name == ".." or name != printable(name):
        raise InputError(f"the name of a submission must be that of one folder, got {name!r}")
    return name


def _document(chosen: Study) -> dict[str, Any]:
    """The study without what is left at its default, or follows from its parts."""
    implied = {"algorithms", "environments", "datasets"} if chosen.parts else set()
    document = {
        name: value
        for name, value in chosen.model_dump().items()
        if value != type(chosen).model_fields[name].get_default() and name not in implied
    }
    return {**document, "parts": list(map(_document, chosen.parts))} if chosen.parts else document


def write_study(document: Mapping[str, Any], place: Path) -> None:
    text = yaml.safe_dump(dict(document), sort_keys=False, width=100)
    (place / "study.yaml").write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Submission:
    """The cells that a study has, and the records that are said to be of them. `frozen` is the last
    commit under which they were current, None if they should be so now.
    """

    cells: frozenset[Cell]
    records: tuple[Record, ...]
    frozen: str | None = None

    @classmethod
    def read(cls, folder: str | Path) -> "Submission":
        place = Path(folder)
        for name in ("study.yaml", _RECORDS):
            if not (place / name).is_file():
                raise InputError(f"{place} is no submission: it lacks {name}")
        document = read_study(place / "study.yaml")
        frozen = document.get("frozen")
        records = tuple(read_records(place / _RECORDS, strict=True))
        if frozen is None:
            return cls(frozenset(study(place / "study.yaml").cells()), records)
        try:
            cells = frozenset(cell for block in document["cells"] for cell in _cells_of(**block))
        except UNREADABLE as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(
                f"cannot read the cells of {place / 'study.yaml'}: {reason}"
            ) from error
        return cls(cells, records, str(frozen))


def _cells_of(
    methods: Sequence[str],
    tasks: Sequence[Sequence[Any]],
    ts: Sequence[float],
    seeds: Sequence[int],
) -> Iterator[Cell]:
    """Every method on every task, at every t and seed."""
    for method in methods:
        name, options = parse(method)
        params = tuple(sorted(options.items()))
        for environment, dataset, labels in tasks:
            for t in ts:
                for seed in seeds:
                    yield Cell(name, environment, dataset, labels, t, seed, params)


def blocks(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Cells as few blocks of methods x tasks x t x seeds."""
    curves: dict[Any, set[tuple[float, int]]] = defaultdict(set)
    for cell in cells:
        curves[cell.spec, cell.task].add((cell.t, cell.seed))
    methods: dict[Any, list[str]] = defaultdict(list)
    for (spec, task), points in sorted(curves.items()):
        ts, seeds = (tuple(sorted(set(values))) for values in zip(*points, strict=True))
        if len(points) != len(ts) * len(seeds):
            raise InputError(f"{spec} on {task.name} lacks a point: it cannot be frozen")
        methods[task, ts, seeds].append(spec)
    tasks: dict[Any, list[list[Any]]] = defaultdict(list)
    for (task, ts, seeds), specs in methods.items():
        tasks[tuple(specs), ts, seeds].append([task.environment, task.dataset, task.labels])
    return [
        {"methods": list(specs), "tasks": found, "ts": list(ts), "seeds": list(seeds)}
        for (specs, ts, seeds), found in tasks.items()
    ]
