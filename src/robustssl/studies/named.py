"""The studies that have a name: the YAML files of this folder, which a user can copy."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@cache
def named() -> dict[str, Path]:
    """The file of each named study, the quick one first."""
    found = {path.stem: path for path in _FOLDER.glob("*.yaml")}
    return {name: found[name] for name in sorted(found, key=lambda n: (n != "quickstart", n))}
