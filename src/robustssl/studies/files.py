"""The files of studies: those of this folder have a name, and a user can copy them."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from robustssl.errors import InputError, unknown
from robustssl.records.places import shown

_FOLDER = Path(__file__).parent

# Keys that a submission adds to its study.
SUBMITTED = ("command", "trust", "carries", "lacks", "frozen", "cells")


@cache
def named() -> dict[str, Path]:
    """The file of each named study, the quick one first."""
    found = {path.stem: path for path in _FOLDER.glob("*.yaml")}
    return {name: found[name] for name in sorted(found, key=lambda n: (n != "quickstart", n))}


def file_of(source: str | Path) -> Path:
    """The file of a study that is given by its name or by a path."""
    path = named().get(str(source), Path(source))
    if not _is_file(path):
        if path.suffix in (".yaml", ".yml"):
            raise InputError(f"there is no study file {path}")
        raise unknown("study", shown(source), named())
    return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


class _StrictLoader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, where the last would win silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise yaml.YAMLError(f"the key {twice!r} stands there twice")
        return super().construct_mapping(node, deep)


def read_study(path: Path) -> dict[str, Any]:
    """The keys and values of a study's file."""
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not YAML: {error}") from error
    if not isinstance(document, dict):
        raise InputError(f"{path} must hold keys and values, such as `datasets: [iris]`")
    return document
