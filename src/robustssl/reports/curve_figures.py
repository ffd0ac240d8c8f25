"""Figures of curves over t: scores and gains, with a panel for each task."""

from collections.abc import Callable, Sequence
from textwrap import fill
from typing import Any

from matplotlib.figure import Figure

from robustssl.analysis.compare import break_even
from robustssl.analysis.curve import Curve
from robustssl.analysis.curves import KeyedCurve, matched
from robustssl.cell import Task, data_names, labels_in_words
from robustssl.reports.style import in_figures, looks

LABEL = 32  # characters of a line beside a panel


def draw_curves(found: Sequence[KeyedCurve], score: str) -> Figure:
    """All curves with their 95% bands over seeds; of a detection the line of chance."""

    def draw(panel: Any, keyed: KeyedCurve, look: dict[str, Any]) -> None:
        _line(panel, keyed.curve, keyed.name, look)

    figure = _panels(found, draw, score.replace("_", " "))
    if score == "detection":
        for panel in figure.axes:
            panel.axhline(0.5, color="#444444", linewidth=0.8, zorder=0)
            panel.annotate("chance", (1, 0.5), ha="right", va="bottom", fontsize=7, color="#444444")
    return figure


def draw_gains(found: Sequence[KeyedCurve]) -> Figure | None:
    """Every curve less its baseline's, seed by seed; a ring where it falls below."""
    pairs = {id(mine): pair for mine, pair in matched(found)}
    if not pairs:
        return None

    def draw(panel: Any, keyed: KeyedCurve, look: dict[str, Any]) -> None:
        difference = pairs[id(keyed)].gain
        _line(panel, difference, keyed.name, look)
        at, ring = break_even(difference).estimate, {"mfc": "none", "mec": look["color"], "ms": 8}
        if at is not None:
            panel.plot([at], [0 if at else difference.mean[0]], "o", **ring)

    figure = _panels([curve for curve in found if id(curve) in pairs], draw, "gain")
    for panel in figure.axes:
        panel.axhline(0, color="#444444", linewidth=0.8, zorder=0)
    return figure


def _line(panel: Any, curve: Curve, name: str, look: dict[str, Any]) -> None:
    panel.plot(curve.ts, curve.mean, label=name, **look)
    if curve.seeds > 1:
        panel.fill_between(curve.ts, *curve.band(), color=look["color"], alpha=0.13, linewidth=0)


def _panels(
    found: Sequence[KeyedCurve],
    draw: Callable[[Any, KeyedCurve, dict[str, Any]], None],
    what: str,
) -> Figure:
    """A row for each dataset with a panel for each of its environments, and one legend below."""
    rows: dict[tuple[Any, Any], dict[str, list[KeyedCurve]]] = {}
    for curve in sorted(found, key=lambda c: str((c.key["dataset"], c.key["labels"]))):
        row = rows.setdefault((curve.key["dataset"], curve.key["labels"]), {})
        row.setdefault(curve.key["environment"], []).append(curve)
    look = looks({c.name: c.method.supervised if c.method else None for c in found})
    names = sorted(look, key=lambda name: (look[name]["zorder"], name))
    data = data_names(str(dataset) for dataset, _ in rows)
    columns = max(map(len, rows.values()))
    width = max(3.0 * columns, 5.0)
    lines = len(names) // _legend_columns(names, width)
    height = (2.4 if len(names) <= 8 else 3.6) * len(rows) + 0.5 + 0.17 * lines
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(len(rows), columns, squeeze=False, sharex=True, sharey="row")
    for ((dataset, labels), row), panels in zip(rows.items(), axes, strict=True):
        said = "" if labels is None else f", {labels_in_words(labels)}"
        panels[0].set_ylabel(f"{fill(in_figures(data[dataset]) + said, LABEL)}\n{what}")
        for panel, environment in zip(panels, sorted(row), strict=False):
            panel.set_autoscale_on(False)  # or every line scales all panels anew
            for curve in row[environment]:
                draw(panel, curve, look[curve.name])
            panel.set_autoscale_on(True)
            panel.set_title(in_figures(Task(environment or "", "", None).inconsistency))
            panel.set_xlabel("inconsistency t")
            panel.label_outer()
        for panel in panels[len(row) :]:
            panel.set_axis_off()
    handles = {line.get_label(): line for panel in axes.flat for line in panel.lines}
    figure.legend(
        [handles[name] for name in names],
        list(map(in_figures, names)),
        loc="outside lower center",
        ncols=_legend_columns(names, width),
        frameon=False,
        handlelength=3.0,
    )
    return figure


def _legend_columns(names: Sequence[str], inches: float) -> int:
    """As many as fit: a character takes about a 14th of an inch, line and space about 8 of them."""
    return max(1, min(3, len(names), int(14 * inches / (max(map(len, names)) + 8))))
