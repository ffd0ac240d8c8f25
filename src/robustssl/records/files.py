"""Records as files: lines of JSON, maybe packed; to and from a store."""

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from robustssl.errors import InputError
from robustssl.records.frame import frame_of, successes, with_pair, with_versions
from robustssl.records.places import url_of
from robustssl.records.published import KEYS
from robustssl.records.record import SCORES, Record
from robustssl.records.store import Store

LARGEST = 4 * 10**9  # characters of a file, unpacked


def read_frame(source: str | Path) -> pd.DataFrame:
    """Every record of a store, or of a file or a folder of records, as the one tidy frame."""
    path = Path(source)
    if url_of(source) is not None or not (holds_records(path) or path.is_dir()):
        with Store(source, create=False) as store:
            return store.frame()
    every = sorted(path.rglob("*")) if path.is_dir() else [path]
    found = [file for file in every if file.is_file() and holds_records(file)]
    if not found:
        raise InputError(f"there are no records (jsonl files) in {path}")
    records = [record for file in found for record in read_records(file)]
    return frame_of(list({(r.key, r.error): r for r in reversed(records)}.values())[::-1])


def holds_records(path: Path) -> bool:
    """Whether its name says that it does."""
    return path.name.endswith((".jsonl", ".jsonl.gz"))


def read_text(path: Path) -> str:
    """The text of a file, unpacked if it is packed."""
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8-sig") as file:
            text = str(file.read(LARGEST + 1))
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    if len(text) > LARGEST:
        raise InputError(f"{path} holds more than {LARGEST:,} characters")
    return text


def read_records(path: Path, strict: bool = False) -> list[Record]:
    """The records of a file, a line each; `strict`: each must have its digest."""

    def read(number: int, line: str) -> Record:
        try:
            return Record.from_json(line, strict)
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from error

    return [read(number, line) for number, line in enumerate(read_text(path).splitlines(), 1)]


def pack(records: Sequence[Record], path: Path) -> None:
    """Write records, sorted by their cells, as packed lines: the same records, the same file."""
    lines = [record.to_json() + "\n" for record in sorted(records, key=lambda r: r.cell)]
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def export(store: str | Path, path: str | Path) -> int:
    """Write a store's records to a file: all of them (.jsonl), or the scores as a tidy table
    (.csv).
    """
    path = Path(path)
    with Store(store, create=False) as opened:
        if path.suffix == ".jsonl":
            lines = [record.to_json() + "\n" for record in opened.records()]
            text, count = "".join(lines), len(lines)
        elif path.suffix == ".csv":
            frame = with_pair(successes(with_versions(opened.frame())))
            columns = [*KEYS, "t", "seed", *SCORES, "seconds"]
            text, count = frame[columns].to_csv(index=False), len(frame)
        else:
            raise InputError(f"the file to export to must end in .jsonl or .csv, got {path.name}")
    try:
        part = path.with_name(path.name + ".part")  # so that no half file takes its place
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    return count


@dataclass(frozen=True)
class Loaded:
    """What an import came to; `conflicts` are cells that the store knows with other scores."""

    added: int
    known: int
    conflicts: tuple[str, ...]


def load(path: str | Path, store: str | Path = "robustssl.sqlite") -> Loaded:
    """Import records (jsonl) into a store. What the store holds already stays as it is."""
    if url_of(path) is not None:
        raise InputError("records come from a file; `robustssl store merge` takes a database")
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    return _merge(read_records(path), store)  # all read before one is written


def merge(source: str | Path, store: str | Path) -> Loaded:
    """Add the records of a store to another. What that holds already stays as it is."""
    with Store(source, create=False) as opened:
        records = list(opened.records())
    return _merge(records, store)


def _merge(records: Sequence[Record], store: str | Path) -> Loaded:
    with Store(store) as opened:
        there = {(record.key, record.error): record for record in opened.records()}
        new, conflicts = [], []
        for record in records:
            same = there.setdefault((record.key, record.error), record)
            if same is record:
                new.append(record)
            elif any(
                same.scores[k] != record.scores[k] for k in same.scores.keys() & record.scores
            ):
                conflicts.append(str(record.cell))
        added = opened.add_all(new)
        known = len(records) - added - len(conflicts)
    return Loaded(added, known, tuple(conflicts))
