"""Figures of a report's table: metrics, ranks, a map of gains, cost."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from robustssl.analysis.compare import friedman, mean_ranks, wilcoxon_holm
from robustssl.analysis.curves import TASK, task_in_words
from robustssl.cell import Task
from robustssl.reports.columns import METRICS
from robustssl.reports.style import in_figures, looks


def draw_metrics(table: pd.DataFrame) -> Figure:
    """Every metric with its interval: a row of panels for each task, best method on top."""
    tasks = [(task, rows) for task, rows in table.groupby(TASK, dropna=False)]
    heights = [max(len(rows), 4) for _, rows in tasks]
    size = (2.2 * len(METRICS) + 1.5, 0.2 * sum(heights) + 0.9 * len(tasks))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(tasks), len(METRICS), squeeze=False, height_ratios=heights)
    look = looks(_methods(table))
    for (task, rows), panels in zip(tasks, axes, strict=True):
        rows = rows.sort_values("AUC")
        for name, panel in zip(METRICS, panels, strict=True):
            _draw_intervals(panel, rows, name, look)
            names = map(in_figures, rows.method) if name == "AUC" else ()
            panel.set_yticks(range(len(rows)), list(names))
            panel.set_ylim(-0.5, len(rows) - 0.5)
            panel.set_xlabel(name)
        panels[0].set_title(in_figures(task_in_words(task)), loc="left")
    return figure


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


def draw_ranks(table: pd.DataFrame) -> Figure | None:
    """Critical differences: mean ranks of AUC over datasets; a bar joins methods that the Wilcoxon
    tests (Holm) do not tell apart. Of methods that have every task, if there are three such.
    """
    from scikit_posthocs import critical_difference_diagram

    scores = _by_task(table).groupby(level="drawn").mean()
    if len(scores) < 2 or len(scores.columns) < 3:
        return None
    ranks = mean_ranks(scores)
    look = looks({name: _methods(table)[name] for name in ranks.index})
    figure = Figure(figsize=(8, 1.3 + 0.13 * len(ranks)), layout="constrained")
    panel = figure.subplots()
    p_values = wilcoxon_holm(scores)
    critical_difference_diagram(
        ranks.rename(in_figures),
        p_values.rename(in_figures).rename(in_figures, axis=1),
        ax=panel,
        label_fmt_left="{label} ({rank:.1f})",
        label_fmt_right="({rank:.1f}) {label}",
        color_palette={in_figures(name): look[name]["color"] for name in look},
    )
    p = friedman(scores)
    said = f"Mean rank of AUC over {len(scores)} datasets (1 is best; Friedman p = {p:.2g})"
    panel.set_title(said)
    return figure


def _methods(table: pd.DataFrame) -> dict[str, bool | None]:
    """The methods of a table, and whether each is supervised."""
    return dict(zip(table.method, table.supervised, strict=True))


def _by_task(table: pd.DataFrame) -> pd.DataFrame:
    """AUC by task (rows) of the methods (columns) that have every task."""
    index = ["drawn", *(name for name in TASK if table[name].notna().any())]
    scores = table.pivot_table(index=index, columns="method", values="AUC")
    return scores.dropna(axis=1)


def draw_map(table: pd.DataFrame) -> Figure | None:
    """Mean gain over the baseline: algorithm by environment."""
    known = table.dropna(subset="gain")
    if known.empty:
        return None
    cells = known.pivot_table(index="method", columns="environment", values="gain")
    cells = cells.loc[cells.mean(axis=1).sort_values(ascending=False).index]
    size = (3.5 + 1.1 * len(cells.columns), 1.2 + 0.24 * len(cells))
    figure = Figure(figsize=size, layout="constrained")
    panel, most = figure.subplots(), float(np.nanmax(np.abs(cells.to_numpy()))) or 1.0
    image = panel.imshow(cells, cmap="PuOr_r", vmin=-most, vmax=most, aspect="auto")
    words = [in_figures(Task(spec, "", None).inconsistency) for spec in cells.columns]
    panel.set_xticks(range(len(words)), words, rotation=20, ha="right")
    panel.set_yticks(range(len(cells)), list(map(in_figures, cells.index)))
    panel.grid(visible=False)
    for (y, x), value in np.ndenumerate(cells.to_numpy()):
        if not np.isnan(value):
            colour = "white" if abs(value) > 0.7 * most else "black"
            panel.text(x, y, f"{value:+.3f}", ha="center", va="center", color=colour, fontsize=8)
    figure.colorbar(image, ax=panel)
    figure.suptitle("Mean gain over the baseline, all t and datasets", fontsize="medium")
    return figure


def draw_cost(table: pd.DataFrame, seconds: Mapping[str, float]) -> Figure | None:
    """Mean AUC over tasks against what a cell takes, of methods that have every task."""
    scores = _by_task(table).mean()
    scores = scores[[name for name in scores.index if seconds.get(name)]]
    if scores.empty:
        return None
    figure = Figure(figsize=(6.5, 4.2), layout="constrained")
    panel = figure.subplots()
    for name, look in looks({n: _methods(table)[n] for n in scores.index}).items():
        at = (seconds[name], scores[name])
        panel.plot(*([x] for x in at), **{"marker": "o", **look, "linestyle": "none"})
        panel.annotate(in_figures(name), at, (4, 2), textcoords="offset points", fontsize=7)
    panel.set_xscale("log")
    panel.set_xlabel("seconds a cell (share of its curve, where nets are trained together)")
    panel.set_ylabel("mean AUC over tasks")
    panel.margins(x=0.2)
    return figure
