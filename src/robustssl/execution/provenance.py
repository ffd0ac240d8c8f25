"""What numbers were made with: versions of packages, the machine, the commit."""

import platform
import subprocess
from contextlib import suppress
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any


@lru_cache(maxsize=1)
def provenance() -> dict[str, Any]:
    """What the numbers were made with."""
    versions = {"python": platform.python_version()}
    for package in (
        "robustssl",
        "numpy",
        "scipy",
        "scikit-learn",
        "torch",
        "xgboost-cpu",
        "xgboost",
    ):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return {"versions": versions, "machine": platform.machine(), "commit": _commit()}


def _commit() -> str | None:
    """The commit of this very source, if it is a checkout: `-dirty` where files were changed
    since.
    """
    here = Path(__file__).resolve()

    def git(*words: str) -> str:
        command = ["git", "-C", str(here.parent), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)
        dirty = "-dirty" if git("status", "--porcelain", "--", ".") else ""
        return git("rev-parse", "HEAD") + dirty
    except (OSError, subprocess.CalledProcessError):
        return None
