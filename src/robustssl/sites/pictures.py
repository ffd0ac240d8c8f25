"""Pictures of tasks: what t does to their rows. A site loads no data, so they were drawn before, by
`robustssl show tasks`, and are kept in `static/tasks`.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustssl.records import catalog
from robustssl.sites.names import slug
from robustssl.spec import parse, spell

_FREE = ("CC BY", "public")  # how licences begin under which rows may be shown to others
_POINTS = (
    "two principal components of what methods see at t = 0, a colour for each class",
    "Large: labeled rows. Hollow: inconsistent ones.",
)
_ROWS = ("some of them, with their classes", "Framed: inconsistent ones.")
FOLDER = Path(__file__).parent / "static" / "tasks"


def picture_name(environment: str, dataset: str) -> str:
    """The name of the picture of an environment on a dataset (specs). Who may see the labels of
    unlabeled rows makes no difference to the rows.
    """
    name, options = parse(environment)
    shown = spell(name, {key: value for key, value in options.items() if key != "access"})
    return slug(f"{shown} {dataset}") + ".webp"


def picture(environment: str, dataset: str) -> Path | None:
    """The picture of an environment on a dataset, if there is one."""
    found = FOLDER / picture_name(environment, dataset)
    return found if found.is_file() else None


def may_show(dataset: str) -> bool:
    """Whether the licence of a dataset (a spec) allows to show its rows. Images and texts of others
    are drawn as points.
    """
    found = catalog.entry("dataset", parse(dataset)[0])
    licence = found.licence if found else None
    return licence is not None and (licence == "MIT" or licence.startswith(_FREE))


def copy_picture(task: Mapping[str, Any], folder: Path) -> dict[str, Any] | None:
    """Copy the picture of a task into a folder of a site; its name, size and what it shows, None if
    there is none.
    """
    found = picture(task["environment"], task["dataset"])
    if found is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(found, folder / found.name)
    width, height = _size(found.read_bytes())
    as_rows = task["data"] in ("image", "text") and may_show(task["dataset"])
    shows, caption = _ROWS if as_rows else _POINTS
    told = {"shows": shows, "caption": f"{shows[0].upper()}{shows[1:]}. {caption}"}
    return {"name": found.name, "width": width, "height": height, **told}


def _size(webp: bytes) -> tuple[int, int]:
    """Width and height of a lossless WebP, whose header holds each minus 1 in 14 bits."""
    bits = int.from_bytes(webp[21:25], "little")
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
