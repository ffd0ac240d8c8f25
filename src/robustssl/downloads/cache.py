"""The cache: each fetched dataset is one folder of .npy files, written whole or not at all.

Datasets are read from there without a connection and mapped into memory, so that processes share
them.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from robustssl.errors import InputError
from robustssl.records.catalog import entry

Arrays = dict[str, npt.NDArray[Any]]
T = TypeVar("T")


@dataclass(frozen=True)
class Source:
    """A place that has a dataset: its description, and a function that gets the arrays."""

    description: str
    get: Callable[[], Arrays]


def cache() -> Path:
    """The folder of fetched data: $ROBUSTSSL_CACHE, or `robustssl` in the user's cache folder."""
    if own := os.environ.get("ROBUSTSSL_CACHE"):
        return Path(own)
    from platformdirs import user_cache_path

    return user_cache_path("robustssl", appauthor=False)


def place(name: str) -> Path:
    """The folder of a dataset in the cache; each version of a dataset has its own."""
    found = entry("dataset", name)
    return cache() / f"{name}-{found.version if found else 1}"


def fetch(name: str, sources: Sequence[Source], build: Callable[[Arrays], T]) -> T:
    """Build an object from the arrays of a dataset: those in the cache, or else those of the first
    source that works. Arrays from which `build` fails are not kept.
    """

    def write(part: Path) -> None:
        for key, array in _first(name, sources, build).items():
            np.save(part / f"{key}.npy", array, allow_pickle=False)

    folder = filled(place(name), write)
    try:
        files = sorted(folder.glob("*.npy"))
        return build({f.stem: np.load(f, mmap_mode="r", allow_pickle=False) for f in files})
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise InputError(
            f"the cache {folder} is damaged ({error}): delete that folder and fetch again"
        ) from error


def _first(name: str, sources: Sequence[Source], build: Callable[..., Any]) -> Arrays:
    """The arrays of the first source that works."""
    reasons = []
    for source in sources:
        try:
            arrays = source.get()
            build(arrays)
            return arrays
        except Exception as error:
            reasons.append(f"{source.description} ({type(error).__name__}: {error})")
    raise InputError(
        f"cannot fetch {name}. Tried: {'; '.join(reasons)}. Without a connection, copy the folder "
        f"{place(name)} from a machine that has it"
    )


def filled(folder: Path, write: Callable[[Path], None]) -> Path:
    """The folder; if it is not there, it gets the files that `write` puts into it, whole or not at
    all, and once even if several processes ask for it at the same moment.
    """
    if folder.is_dir():
        return folder
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / f".{folder.name}.lock"):
        if not folder.is_dir():  # else another process was first
            part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
            try:
                write(part)
                part.chmod(0o755)
                part.rename(folder)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
    return folder


def check_sha256(path: Path, expected: str) -> None:
    """Refuse a file whose content is not the expected one."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise InputError(f"the sha256 of {path.name} must be {expected}, got {found}")
