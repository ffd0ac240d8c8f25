"""Pictures of the tasks of studies, small enough to be kept beside the pages of a site."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image

from robustssl.cell import Task
from robustssl.pictures.environment import drawn
from robustssl.reports.style import style
from robustssl.sites.pictures import FOLDER, may_show, picture_name
from robustssl.spec import parse, spell
from robustssl.splits import prepare
from robustssl.studies.study import study

_SHARP = 80  # dots per inch
_COLOURS = 24
_LABELS = 4  # of a class, at most: more would hide the unlabeled rows


def draw_tasks(studies: Iterable[str], folder: str | Path = FOLDER) -> Iterator[Path]:
    """Draw what t does to the rows of each task, in files that `sites.pictures` finds. Tasks that
    differ in labels or in access have one picture.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    tasks: dict[str, Task] = {}
    for source in studies:
        for _, task in study(source).curves():
            tasks.setdefault(picture_name(task.environment, task.dataset), task)
    for name, task in tasks.items():
        place = Path(folder) / name
        place.write_bytes(_picture(task))
        yield place


def _picture(task: Task) -> bytes:
    name, options = parse(task.environment)
    seen = spell(name, {key: value for key, value in options.items() if key != "access"})
    prepared = prepare(task.dataset, seen, min(task.labels or 1, _LABELS), seed=0)
    with style():
        figure = drawn(prepared, rows=may_show(task.dataset))
        content = io.BytesIO()
        figure.savefig(content, dpi=_SHARP)
    few = Image.open(content).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    kept = io.BytesIO()
    few.convert("RGB").save(kept, "WEBP", lossless=True, method=6)
    return kept.getvalue()
