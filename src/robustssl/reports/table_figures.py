"""Figures of a report's table: metrics, ranks, a map of gains, cost."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from robustssl.analysis.compare import friedman, mean_ranks, wilcoxon_holm
from robustssl.analysis.curves import TASK, task_in_words
from robustssl.cell import Task
from robustssl.reports.columns import METRICS
from robustssl.reports.layout import broken, characters
from robustssl.reports.shown import EVERYTHING, Shown
from robustssl.reports.style import in_figures, looks


def draw_metrics(
    table: pd.DataFrame, shown: Shown = EVERYTHING, metrics: Sequence[str] = METRICS
) -> Figure:
    """Metrics with their intervals, as many as the width allows: a row of panels for each task,
    best method on top.
    """
    metrics = metrics[: int((shown.inches - 1) / 0.9)] if shown.inches else metrics
    tasks = [(task, rows.sort_values("AUC")) for task, rows in table.groupby(TASK, dropna=False)]
    width, line = shown.inches or 2.2 * len(metrics) + 1.5, 0.14 if shown.inches else 0.2
    labels = [_broken(rows.method, width, shown) for _, rows in tasks]
    heights = [line * (max(len(names), 4) * (0.4 + 0.6 * _lines(names)) + 4.5) for names in labels]
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    parts = figure.subfigures(len(tasks), 1, squeeze=False, height_ratios=heights)[:, 0]
    look = shown.looks or looks(_methods(table))
    for (task, rows), names, part in zip(tasks, labels, parts, strict=True):
        panels = part.subplots(1, len(metrics), squeeze=False)[0]
        for name, panel in zip(metrics, panels, strict=True):
            _draw_intervals(panel, rows, name, look)
            panel.set_yticks(range(len(rows)), names if panel is panels[0] else [])
            panel.set_ylim(-0.5, len(rows) - 0.5)
            panel.set_xlabel(name)
            if shown.inches:
                panel.locator_params(axis="x", nbins=2)  # or long numbers meet
        title = in_figures(task_in_words(task, shown.names))
        part.suptitle(broken(title, characters(width, "axes.titlesize")), fontsize="medium")
    return figure


def _broken(names: Iterable[str], inches: float, shown: Shown) -> list[str]:
    """Names beside a panel, broken so that they take a third of the figure at most."""
    room = characters(inches / 3, "ytick.labelsize")
    return [broken(shown.label(name), room) for name in names]


def _lines(names: Iterable[str]) -> int:
    """Of the highest name."""
    return max((name.count("\n") + 1 for name in names), default=1)


def _draw_intervals(
    panel: Any, rows: pd.DataFrame, name: str, look: Mapping[str, dict[str, Any]]
) -> None:
    """Of a metric the estimate of each row, from the bottom up, and its interval."""
    middle = rows[f"{name}_estimate"].fillna(rows[name])
    colours = [look[method]["color"] for method in rows.method]
    heights = np.arange(len(rows))
    panel.hlines(heights, rows[f"{name}_low"], rows[f"{name}_high"], colors=colours)
    shapes = np.array([look[method].get("marker", "o") for method in rows.method])
    for shape in np.unique(shapes):
        at = np.flatnonzero(shapes == shape)
        chosen = [colours[i] for i in at]
        panel.scatter(middle.iloc[at], heights[at], marker=shape, c=chosen, s=16, zorder=3)


def draw_ranks(table: pd.DataFrame, shown: Shown = EVERYTHING) -> Figure | None:
    """Critical differences: mean ranks of AUC over datasets among all methods that have every task,
    if there are three such, of those to show; a bar joins methods that the Wilcoxon tests (Holm) do
    not tell apart.
    """
    from scikit_posthocs import critical_difference_diagram

    scores = _by_task(table).groupby(level="drawn").mean()
    ranks = mean_ranks(scores)
    names = [name for name in ranks.index if shown.methods is None or name in shown.methods]
    if len(scores) < 2 or len(ranks) < 3 or len(names) < 2:
        return None
    look = shown.looks or looks(_methods(table))
    width = shown.inches or 8
    labels = dict(zip(names, _broken(names, width, shown), strict=True))
    line = (0.08 if shown.inches else 0.13) * _lines(labels.values())
    figure = Figure(figsize=(width, 1.3 + line * len(names)), layout="constrained")
    panel = figure.subplots()
    p_values = wilcoxon_holm(scores).loc[names, names]
    drawn = critical_difference_diagram(
        ranks[names].rename(labels),
        p_values.rename(labels).rename(labels, axis=1),
        ax=panel,
        label_fmt_left="{label} ({rank:.1f})",
        label_fmt_right="({rank:.1f}) {label}",
        color_palette={labels[name]: look[name]["color"] for name in names},
    )
    for (bar,) in drawn["crossbars"]:
        bar.set_xdata(np.sort(bar.get_xdata()))  # a set has another order in every process
    said = (
        f"Mean rank of AUC among {len(ranks)} methods over {len(scores)} datasets (1 is best; "
        f"Friedman p = {friedman(scores):.2g})"
    )
    panel.set_title(broken(said, characters(width, "axes.titlesize")))
    return figure


def _methods(table: pd.DataFrame) -> dict[str, bool | None]:
    """The methods of a table, and whether each is supervised."""
    return dict(zip(table.method, table.supervised, strict=True))


def _by_task(table: pd.DataFrame) -> pd.DataFrame:
    """AUC by task (rows) of the methods (columns) that have every task."""
    table = table.assign(**{name: table[name].map(str) for name in TASK})  # or nan is left out
    scores = table.pivot_table(index=["drawn", *TASK], columns="method", values="AUC")
    return scores.dropna(axis=1)


def draw_map(table: pd.DataFrame, shown: Shown = EVERYTHING, left_out: str = "") -> Figure | None:
    """Mean gain over the baseline: algorithm by environment; below it who is `left_out`."""
    known = table.dropna(subset="gain")
    if known.empty:
        return None
    cells = known.pivot_table(index="method", columns="environment", values="gain")
    cells = cells.loc[cells.mean(axis=1).sort_values(ascending=False).index]
    width, line = shown.inches or 3.5 + 1.1 * len(cells.columns), 0.13 if shown.inches else 0.24
    names = _broken(cells.index, width, shown)
    size = (width, 1.2 + line * len(cells) * (0.4 + 0.6 * _lines(names)))
    figure = Figure(figsize=size, layout="constrained")
    panel, most = figure.subplots(), float(np.nanmax(np.abs(cells.to_numpy()))) or 1.0
    image = panel.imshow(cells, cmap="PuOr_r", vmin=-most, vmax=most, aspect="auto")
    words = [shown.label(Task(spec, "", None).inconsistency) for spec in cells.columns]
    panel.set_xticks(range(len(words)), words, rotation=45 if shown.inches else 20, ha="right")
    panel.set_yticks(range(len(cells)), names)
    panel.grid(visible=False)
    written: Any = {"fontsize": 8 if not shown.inches else min(6, 1.6 * width)}
    for (y, x), value in np.ndenumerate(cells.to_numpy()):
        if not np.isnan(value):
            look: Any = {"color": "white" if abs(value) > 0.7 * most else "black", **written}
            panel.text(x, y, f"{value:+.3f}", ha="center", va="center", **look)
    if not shown.inches:
        figure.colorbar(image, ax=panel)
    figure.suptitle("Mean gain over the baseline, all t and datasets", fontsize="medium")
    if left_out:
        said = broken(left_out, characters(width, "legend.fontsize"))
        figure.supxlabel(in_figures(said), fontsize="small")
    return figure


def draw_cost(
    table: pd.DataFrame, seconds: Mapping[str, float], shown: Shown = EVERYTHING
) -> Figure | None:
    """Mean AUC over tasks against what a cell takes, of methods that have every task."""
    scores = _by_task(table).mean()
    scores = scores[[name for name in scores.index if seconds.get(name)]]
    if scores.empty:
        return None
    width = shown.inches or 6.5
    figure = Figure(figsize=(width, 0.65 * width), layout="constrained")
    panel = figure.subplots()
    look = shown.looks or looks(_methods(table))
    for name in scores.index:
        panel.plot(
            [seconds[name]], [scores[name]], **{"marker": "o", **look[name], "linestyle": ""}
        )
    panel.set_xscale("log")
    said = "seconds a cell (share of its curve, where nets are trained together)"
    panel.set_xlabel(broken(said, characters(width, "axes.labelsize")))
    panel.set_ylabel("mean AUC over tasks")
    panel.margins(x=0.2, y=0.12)
    names = _broken(scores.index, width, shown)
    points = [(seconds[name], float(scores[name])) for name in scores.index]
    _name_points(figure, panel, names, points)
    return figure


def _name_points(
    figure: Figure, panel: Any, names: Sequence[str], points: Sequence[tuple[float, float]]
) -> None:
    """The name of each point beside it, inside of the figure, and where it overlaps no other one
    if there is room.
    """
    figure.draw_without_rendering()  # so that the panel has its place
    taken: list[Any] = []
    for name, at in sorted(zip(names, points, strict=True), key=lambda pair: pair[1][1]):
        tried = [_annotated(panel, name, at, x, y) for y in (2, -7, 8, -13) for x in (4, -4)]
        boxes = [text.get_window_extent() for text in tried]
        inside = [figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes]
        free = [not any(box.overlaps(other) for other in taken) for box in boxes]
        best = max(range(len(tried)), key=lambda i: (inside[i] + free[i], inside[i], -i))
        taken.append(boxes[best])
        for i, text in enumerate(tried):
            if i != best:
                text.remove()


def _annotated(panel: Any, name: str, at: tuple[float, float], x: int, y: int) -> Any:
    side = {"ha": "left" if x > 0 else "right", "textcoords": "offset points"}
    text = panel.annotate(name, at, (x, y), fontsize="x-small", **side)
    text.set_in_layout(False)
    return text
