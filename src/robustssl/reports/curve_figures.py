"""Figures of curves over t: scores and gains, with a panel for each task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib import rcParams
from matplotlib.figure import Figure

from robustssl.analysis.compare import break_even
from robustssl.analysis.curve import Curve
from robustssl.analysis.curves import TASK, KeyedCurve, matched
from robustssl.cell import Task, data_names, labels_in_words
from robustssl.errors import InputError
from robustssl.reports.layout import Grid
from robustssl.reports.shown import EVERYTHING, Shown

Look = Mapping[str, Any]
Name = tuple[str, str]  # for people, and as a spec
Draw = Callable[[Any, KeyedCurve, Look], None]


def draw_curves(
    found: Sequence[KeyedCurve], score: str, shown: Shown = EVERYTHING, axes: Any = None
) -> Figure:
    """All curves with their 95% bands over seeds; of a detection the line of chance."""

    def draw(panel: Any, keyed: KeyedCurve, look: Look) -> None:
        _line(panel, keyed.curve, shown.label(keyed.name), look)

    figure, panels = _panels(found, draw, score.replace("_", " "), shown, axes)
    if score == "detection":
        for panel in panels:
            panel.axhline(0.5, color="#444444", linewidth=0.8, zorder=0)
            at = {"ha": "right", "va": "bottom", "fontsize": "x-small"}
            panel.annotate("chance", (1, 0.5), color="#444444", **at)
    return figure


def draw_gains(
    found: Sequence[KeyedCurve], shown: Shown = EVERYTHING, axes: Any = None
) -> Figure | None:
    """Every curve less its baseline's, seed by seed; a ring where it falls below. None if no gain
    is known. `found` has the baselines too.
    """
    pairs = {id(mine): pair for mine, pair in matched(found)}
    drawn = [curve for curve in shown.curves(found) if id(curve) in pairs]
    if not drawn:
        return None

    def draw(panel: Any, keyed: KeyedCurve, look: Look) -> None:
        difference = pairs[id(keyed)].gain
        _line(panel, difference, shown.label(keyed.name), look)
        at = break_even(difference).estimate
        ring = {"mfc": "none", "mec": look["color"], "ms": 16 / 7 * rcParams["lines.markersize"]}
        if at is not None:
            panel.plot([at], [0 if at else difference.mean[0]], "o", **ring)

    figure, panels = _panels(drawn, draw, "gain", shown, axes, without_gain(found, shown))
    for panel in panels:
        panel.axhline(0, color="#444444", linewidth=0.8, zorder=0)
    return figure


def without_gain(found: Sequence[KeyedCurve], shown: Shown = EVERYTHING) -> str:
    """A sentence on methods to show that have no gain on any task; nothing if all have one."""
    known = {mine.name for mine, _ in matched(found)}
    names = dict.fromkeys(
        shown.name(c.name)
        for c in shown.curves(found)
        if c.name not in known and not (c.method and c.method.supervised)
    )
    return f"Not shown, since the gain is not known: {', '.join(names)}." if names else ""


def _line(panel: Any, curve: Curve, name: str, look: Look) -> None:
    panel.plot(curve.ts, curve.mean, label=name, **look)
    if curve.seeds > 1:
        panel.fill_between(curve.ts, *curve.band(), color=look["color"], alpha=0.13, linewidth=0)


def _panels(
    found: Sequence[KeyedCurve], draw: Draw, what: str, shown: Shown, axes: Any, said: str = ""
) -> tuple[Figure, list[Any]]:
    """A row for each dataset with a panel for each of its environments, or panels one after the
    other where these are too many; and one legend below. With `axes` these are the panels, one for
    each task, and a legend is left to their owner.
    """
    look, found = shown.look_of(found), shown.curves(found)
    if not found:
        raise InputError("nothing to draw: no curve is of these methods and tasks")
    rows = _rows(found, shown)
    names = shown.in_order({curve.name for curve in found}, look)
    labels = list(map(shown.label, names))
    grid = Grid([len(row) for row in rows.values()], labels, shown.inches, axes)
    for ((data, _), row), panels in zip(rows.items(), grid.rows, strict=True):
        for panel, ((environment, _), curves) in zip(panels, _by_spec(row), strict=True):
            panel.set_autoscale_on(False)  # or every line scales all panels anew
            for curve in curves:
                draw(panel, curve, look[curve.name])
            panel.set_autoscale_on(True)
            panel.set_xlabel("inconsistency t")
            if grid.is_flat:
                grid.set_title(panel, data, environment)
                panel.set_ylabel(what)
            else:
                grid.set_title(panel, environment)
        if not grid.is_flat:
            grid.set_row_name(panels[0], data, what)
    if not grid.is_flat:
        grid.label_outer()
    if axes is None:
        handles = {line.get_label(): line for panel in grid.panels for line in panel.lines}
        told = " ".join(filter(None, (shown.left_out, said)))
        grid.add_legend([handles[label] for label in labels], labels, told)
    return grid.figure, grid.panels


def _by_spec(row: dict[Name, list[KeyedCurve]]) -> list[tuple[Name, list[KeyedCurve]]]:
    """In an order that does not depend on what environments are called."""
    return sorted(row.items(), key=lambda item: item[0][1])


def _rows(found: Sequence[KeyedCurve], shown: Shown) -> dict[Name, dict[Name, list[KeyedCurve]]]:
    """The curves of each dataset, and of each environment there, by what these are called."""
    names = data_names(str(curve.key["dataset"]) for curve in found)
    rows: dict[Name, dict[Name, list[KeyedCurve]]] = {}
    for curve in sorted(found, key=lambda c: str((c.key["dataset"], c.key["labels"]))):
        environment, dataset, labels = (curve.key[name] for name in TASK[:3])
        data = shown.label(names[str(dataset)])
        data += "" if labels is None else f", {labels_in_words(labels)}"
        where = shown.label(Task(environment or "", "", None).inconsistency)
        row = rows.setdefault((data, str(dataset)), {})
        row.setdefault((where, str(environment)), []).append(curve)
    return rows
