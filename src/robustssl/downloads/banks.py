"""Banks: vectors of rows, kept by the digests of the rows and mapped into memory.

A bank is a folder of two files that only grow: `vectors`, numbers of 16 bits in the shape (rows,
versions, width), and `entries`, the digest of each row and a checksum. What was cut off, or does
not fit its checksum, counts as missing, so that it is made again.
"""

import hashlib
import json
import re
import shutil
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.downloads.cache import cache
from robustssl.errors import InputError, unknown

Vectors = npt.NDArray[np.float16]

DIGEST = 16  # bytes
_ENTRY = np.dtype([("digest", f"V{DIGEST}"), ("check", "<u4")])


class Bank:
    """The bank of a name, such as an encoder with its options; `shape` is (versions, width)."""

    def __init__(self, name: str, shape: tuple[int, int]) -> None:
        self.name, self.shape, self.folder = name, shape, _folder(name)
        self._size = 2 * shape[0] * shape[1]  # bytes of a row
        self._entries, self._numbers = self.folder / "entries", self.folder / "vectors"
        self._forget()

    def _forget(self) -> None:
        self._file: int | None = None
        self._places: dict[bytes, int] = {}
        self._checks = np.empty(0, np.uint32)
        self._checked = np.empty(0, bool)
        self._vectors: Vectors = np.empty((0, *self.shape), np.float16)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Inside, no other process adds to the bank."""
        from filelock import FileLock

        self.folder.mkdir(parents=True, exist_ok=True)
        about = self.folder / "about.json"
        with FileLock(self.folder / "lock"):
            if not about.is_file():
                about.write_text(json.dumps({"name": self.name}), encoding="utf-8")
            yield

    def missing(self, digests: Sequence[bytes]) -> list[int]:
        """The positions of the rows that the bank lacks, each row once."""
        self._read()
        found = np.array([self._places.get(digest, -1) for digest in digests], np.intp)
        self._check(found[found >= 0])
        first: dict[bytes, int] = {}
        for position, digest in enumerate(digests):
            if digest not in self._places:
                first.setdefault(digest, position)
        return list(first.values())

    def get(self, digests: Sequence[bytes]) -> Vectors:
        """The vectors of rows, none of which may be missing."""
        places = np.array([self._places[digest] for digest in digests], np.intp)
        return np.asarray(self._vectors[places])

    def add(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        """Add rows; call it inside of `alone`."""
        numbers = np.ascontiguousarray(vectors, np.float16)
        entries = np.empty(len(digests), _ENTRY)
        entries["digest"] = np.frombuffer(b"".join(digests), f"V{DIGEST}")
        entries["check"] = [_checksum(d, v) for d, v in zip(digests, numbers, strict=True)]
        count = _length(self._entries) // _ENTRY.itemsize
        try:
            _write(self._numbers, count * self._size, numbers.tobytes())
            _write(self._entries, count * _ENTRY.itemsize, entries.tobytes())
        except OSError as error:
            with suppress(OSError):
                _cut(self._entries, count * _ENTRY.itemsize)
                _cut(self._numbers, count * self._size)
            raise InputError(
                f"cannot keep vectors in {self.folder} ({error.strerror}): make room, for example "
                "by `robustssl data banks --delete NAME`"
            ) from error

    def _read(self) -> None:
        """Learn of the rows that were added since, also by other processes. A bank that was deleted
        and made anew is another file.
        """
        file = self._entries.stat().st_ino if self._entries.is_file() else None
        if file != self._file:
            self._forget()
            self._file = file
        known = len(self._checks)
        whole = min(_length(self._entries) // _ENTRY.itemsize, _length(self._numbers) // self._size)
        if whole <= known:
            return
        entries = np.fromfile(self._entries, _ENTRY, whole)
        self._vectors = np.memmap(self._numbers, np.float16, "r", shape=(whole, *self.shape))
        digests = entries["digest"].tobytes()
        for place in range(known, whole):  # of two entries for a row, the later one is right
            self._places[digests[place * DIGEST : (place + 1) * DIGEST]] = place
        self._checks = entries["check"]
        self._checked = np.concatenate([self._checked, np.zeros(whole - known, bool)])

    def _check(self, places: npt.NDArray[np.intp]) -> None:
        """Forget the rows whose vectors, read for the first time here, do not fit the checksum."""
        new = np.unique(places[~self._checked[places]])
        digests = {place: digest for digest, place in self._places.items()} if len(new) else {}
        for place in new.tolist():
            if _checksum(digests[place], self._vectors[place]) != self._checks[place]:
                del self._places[digests[place]]
        self._checked[new] = True


@dataclass(frozen=True)
class Kept:
    """What a bank takes: its bytes, and the seconds since rows were added."""

    name: str
    rows: int
    size: int
    age: float


def banks() -> list[Kept]:
    """All banks on this machine."""
    return [_kept(folder) for folder in sorted(_root().glob("*/"))]


def delete_bank(name: str) -> None:
    """Delete a bank; a process that reads it keeps what it has."""
    for folder in _root().glob("*/"):
        if _kept(folder).name == name:
            shutil.rmtree(folder)
            return
    raise unknown("bank", name, [bank.name for bank in banks()])


def _kept(folder: Path) -> Kept:
    try:
        name = str(json.loads((folder / "about.json").read_text("utf-8"))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        name = folder.name
    times = [file.stat().st_mtime for file in folder.iterdir()]
    return Kept(
        name,
        rows=_length(folder / "entries") // _ENTRY.itemsize,
        size=sum(file.stat().st_size for file in folder.iterdir()),
        age=time.time() - max(times, default=folder.stat().st_mtime),
    )


def _root() -> Path:
    return cache() / "banks"


def _folder(name: str) -> Path:
    """A folder that people recognise, and that no other name has."""
    short = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]
    return _root() / f"{short}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _checksum(digest: bytes, vectors: npt.NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(vectors).data, zlib.crc32(digest))


def _length(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def _write(file: Path, place: int, content: bytes) -> None:
    """Write at a place, and nothing stays behind it: a process may have been killed there."""
    with file.open("r+b" if file.is_file() else "w+b") as opened:
        opened.truncate(place)
        opened.seek(place)
        opened.write(content)


def _cut(file: Path, length: int) -> None:
    with file.open("r+b") as opened:
        opened.truncate(length)
