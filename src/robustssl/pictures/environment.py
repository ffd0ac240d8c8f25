"""A picture of an environment: what happens to the unlabeled data as t grows."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from robustssl import registry
from robustssl.errors import InputError
from robustssl.pictures import panels
from robustssl.reports.style import save, style
from robustssl.spec import parse
from robustssl.splits import Prepared, prepare

_TS = (0.0, 0.5, 1.0)


def show(
    environment: str, dataset: str, out: str | Path = "environment", labels: int = 5, seed: int = 0
) -> list[Path]:
    """Draw the unlabeled data at t = 0, 0.5 and 1 into OUT.png, .svg and .pdf; and the shares of
    the classes, where a row need not be replaced by one of its own class.
    """
    spec = registry.canonical("environment", environment)
    if "access" in parse(spec)[1]:
        raise InputError("a picture shows what there is: leave access out")
    prepared = prepare(registry.canonical("dataset", dataset), spec, labels, seed)
    with style():
        figure = drawn(prepared)
        figure.suptitle(f"{spec} on {dataset}: unlabeled data as t grows")
        return save(figure, Path(out))


def drawn(prepared: Prepared, *, rows: bool = True) -> Figure:
    """The unlabeled data of a task as t grows; without `rows`, images and texts are points too."""
    draw = {"image": _draw_images, "text": _draw_texts}
    kind = prepared.pools.data.kind
    return draw.get(kind, _draw_points)(prepared) if rows else _draw_points(prepared)


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _moves(prepared: Prepared) -> bool:
    """Whether the shares of the classes may move with t."""
    return not prepared.environment.paired


def _draw_points(prepared: Prepared) -> Figure:
    """Columns of t; below the points the shares of the classes."""
    heights = [3.4, 1.6] if _moves(prepared) else [3.4]
    figure = _figure(9, sum(heights))
    rows = figure.subplots(
        len(heights), 3, squeeze=False, sharex="row", sharey="row", height_ratios=heights
    )
    for t, *column in zip(_TS, *rows, strict=True):
        panels.points(column[0], prepared, t)
        column[0].set_title(f"t = {t:g}")
        for panel in column[1:]:
            panels.shares(panel, prepared, t)
    rows[0][0].set_xlabel("large: labeled; hollow: inconsistent")
    if _moves(prepared):
        rows[1][0].set_xlabel("share of the unlabeled rows", fontsize=8)
    return figure


def _draw_images(prepared: Prepared) -> Figure:
    """A strip of unlabeled images at each t, those of one place under each other."""
    bars = _moves(prepared)
    figure = _figure(12 if bars else 9, 4.4 if bars else 3.2)
    axes = figure.subplots(3, 10 + bars, width_ratios=[1] * 10 + [2.5] * bars)
    for row, t in zip(axes, _TS, strict=True):
        panels.images(row[:10], prepared, t)
        row[0].set_ylabel(f"t = {t:g}")
    _bars(axes[:, 10:], prepared)
    marked = "framed, hollow" if bars else "framed"
    figure.supxlabel(f"{marked}: inconsistent", fontsize=8)
    return figure


def _draw_texts(prepared: Prepared) -> Figure:
    """A few unlabeled texts at each t."""
    bars = _moves(prepared)
    figure = _figure(12 if bars else 9, 5.4)
    axes = figure.subplots(3, 1 + bars, squeeze=False, width_ratios=[9] + [2] * bars)
    for row, t in zip(axes, _TS, strict=True):
        row[0].set_title(f"t = {t:g}", loc="left")
        panels.texts(row[0], prepared, t)
    _bars(axes[:, 1:], prepared)
    marked = "in colour, hollow" if bars else "in colour"
    figure.supxlabel(f"{marked}: inconsistent", fontsize=8)
    return figure


def _bars(axes: Any, prepared: Prepared) -> None:
    """The shares of the classes at each t, if they move, on one scale."""
    for panel, t in zip(axes.flat, _TS[: axes.size], strict=True):
        panels.shares(panel, prepared, t)
    for panel in axes.flat[1:]:
        panel.sharex(axes.flat[0])
    for panel in axes.flat[:1]:
        panel.set_title("share of each class", fontsize=8)
