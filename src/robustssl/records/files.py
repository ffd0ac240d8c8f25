"""Records as files: lines of JSON, maybe packed; to and from a store."""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from robustssl.errors import InputError
from robustssl.records.frame import frame_of, successes, with_pair, with_versions
from robustssl.records.places import url_of
from robustssl.records.published import KEYS
from robustssl.records.record import CRITERIA, SCORES, Record
from robustssl.records.sheets import csv_of
from robustssl.records.store import Store

# What a packed file may come to, in bytes: records shrink to an eighth, all 56,160 of the
# leaderboard from 70 MB to 9 MB; a file made of nothing to fill a memory, to a thousandth.
_LARGEST = 64 * 10**6  # of any packed file
_TIMES = 100  # of a larger one: so many times its size
_LONGEST = 16 * 10**6  # of a line: a record with ten million predictions is not expected
_PIECE = 2**20


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
    with _reading(path):
        return b"".join(_pieces(path)).decode("utf-8-sig")


def read_records(path: Path, strict: bool = False) -> list[Record]:
    """The records of a file, a line each; `strict`: each must have its digest."""
    found = []
    with _reading(path):
        for number, line in enumerate(_pieces(path, lines=True), 1):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            try:
                found.append(Record.from_json(text, strict))
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from error
    return found


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What cannot be read, in a sentence."""
    try:
        yield
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _pieces(path: Path, lines: bool = False) -> Iterator[bytes]:
    """The bytes of a file, unpacked if it is packed, in pieces or by lines, which end with \\n
    alone. A file that unpacks to much more than records would is refused.
    """
    packed = path.suffix == ".gz"
    left = max(_LARGEST, _TIMES * path.stat().st_size) if packed else path.stat().st_size
    with gzip.open(path) if packed else path.open("rb") as file:
        while piece := file.readline(_LONGEST + 1) if lines else file.read(_PIECE):
            left -= len(piece)
            if packed and left < 0:
                raise InputError(f"{path} is refused: it unpacks to far more than records would")
            if lines and len(piece) > _LONGEST:
                raise InputError(f"{path} has a line of more than {_LONGEST:,} bytes")
            yield piece


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` when all is written; of one that could
    not be written, nothing is left.
    """
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            part.unlink()


def pack(records: Sequence[Record], path: Path) -> None:
    """Write records, sorted by their cells, as packed lines: the same records, the same file."""
    lines = [record.to_json() + "\n" for record in sorted(records, key=lambda r: r.cell)]
    with whole(path) as part:
        part.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def export(store: str | Path, path: str | Path) -> int:
    """Write a store's records to a file: all of them (.jsonl), or the scores as a tidy table
    (.csv). Nothing is written if a record is not as it was when it was added.
    """
    if url_of(path) is not None:
        raise InputError("records are exported to a file; `robustssl store merge` fills a database")
    path = Path(path)
    if path.suffix not in (".jsonl", ".csv"):
        raise InputError(f"the file to export to must end in .jsonl or .csv, got {path.name}")
    with Store(store, create=False) as opened, whole(path) as part:
        if path.suffix == ".jsonl":
            with part.open("w", encoding="utf-8") as file:
                return sum(1 for record in opened.records() if file.write(record.to_json() + "\n"))
        frame = with_pair(successes(with_versions(frame_of(list(opened.records())))))
        columns = [*KEYS, "t", "seed", *SCORES, *CRITERIA, "seconds"]
        part.write_text(csv_of(frame[columns]), encoding="utf-8")
        return len(frame)


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
