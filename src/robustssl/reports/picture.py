"""A picture of an environment: what happens to the unlabeled data as t grows."""

import textwrap
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from robustssl import registry
from robustssl.reports.plot import COLOURS, MARKERS, STYLE, save
from robustssl.worker import Prepared, prepare

_TS = (0.0, 0.5, 1.0)


def show(
    environment: str, dataset: str, out: str | Path = "environment", labels: int = 5, seed: int = 0
) -> list[Path]:
    """Draw the unlabeled data at t = 0, 0.5 and 1 into OUT.png and OUT.svg."""
    spec = registry.canonical("environment", environment)
    prepared = prepare(registry.canonical("dataset", dataset), spec, labels, seed)
    draw = {"tabular": _draw_points, "image": _draw_images, "text": _draw_texts}
    with matplotlib.rc_context(STYLE):
        figure = draw[prepared.pools.data.kind](prepared)
        figure.suptitle(f"{spec} on {dataset}: unlabeled data as t grows")
    return save(figure, Path(out))


def _panels(
    rows: int, columns: int, size: tuple[float, float], share: bool = False
) -> tuple[Figure, Any]:
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, sharex=share, sharey=share)


def _draw_points(prepared: Prepared) -> Figure:
    """Two principal components of t = 0: classes by colour, labeled large, inconsistent hollow."""
    pools = prepared.pools
    y, labeled = pools.data.y, len(pools.labeled)
    plane = PCA(2).fit(prepared.split(0.0).X)
    figure, axes = _panels(1, 3, (9, 3.4), share=True)
    for panel, t in zip(axes[0], _TS, strict=True):
        split = prepared.split(t)
        points = plane.transform(split.X)
        whole = np.isclose(split.X, prepared.preprocess(pools.data.X[split.rows])).all(1)
        foreign = np.isin(split.rows, pools.inconsistent)
        if np.array_equal(pools.consistent, pools.inconsistent):
            foreign &= ~whole  # features go missing in every row
        for k in np.unique(y):
            colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
            look = {"marker": marker, "edgecolors": colour, "linewidths": 0.8}
            free = (y[split.rows] == k) & (np.arange(len(points)) >= labeled)
            first = (y[split.rows] == k) & (np.arange(len(points)) < labeled)
            panel.scatter(*points[free & ~foreign].T, s=10, facecolors=colour, alpha=0.6, **look)
            panel.scatter(*points[free & foreign].T, s=14, facecolors="none", **look)
            panel.scatter(*points[first].T, s=55, facecolors=colour, zorder=3, **look)
        panel.set_title(f"t = {t:g}")
        panel.set_xticks([])
        panel.set_yticks([])
    axes[0][0].set_xlabel("large: labeled; hollow: inconsistent")
    return figure


def _draw_images(prepared: Prepared) -> Figure:
    """A strip of unlabeled images at each t, those of one place under each other."""
    pools, count = prepared.pools, 10
    places = np.linspace(0, len(pools.consistent) - 1, count).astype(int)
    figure, axes = _panels(3, count, (9, 3.2))
    for row, t in zip(axes, _TS, strict=True):
        split = prepared.environment.split(pools, t)
        X, rows = split.X[len(pools.labeled) :], split.rows[len(pools.labeled) :]
        for panel, place in zip(row, places, strict=True):
            grey = X.shape[-1] == 1
            panel.imshow(X[place, ..., 0] if grey else X[place], cmap="gray" if grey else None)
            foreign = rows[place] in pools.inconsistent
            panel.set_title(pools.data.meta["classes"][pools.data.y[rows[place]]], fontsize=7)
            panel.set_xticks([])
            panel.set_yticks([])
            for spine in panel.spines.values():
                spine.set(visible=foreign, color=COLOURS[1], linewidth=2)
        row[0].set_ylabel(f"t = {t:g}")
    figure.supxlabel("framed: inconsistent", fontsize=8)
    return figure


def _draw_texts(prepared: Prepared) -> Figure:
    """A few unlabeled texts at each t."""
    pools, count = prepared.pools, 5
    places = np.linspace(0, len(pools.consistent) - 1, count).astype(int)
    figure, axes = _panels(3, 1, (9, 5.4))
    for panel, t in zip(axes[:, 0], _TS, strict=True):
        split = prepared.environment.split(pools, t)
        X, rows = split.X[len(pools.labeled) :], split.rows[len(pools.labeled) :]
        panel.set_title(f"t = {t:g}", loc="left")
        panel.set_axis_off()
        for line, place in enumerate(places):
            foreign = rows[place] in pools.inconsistent
            label = pools.data.meta["classes"][pools.data.y[rows[place]]]
            text = textwrap.shorten(X[place], 150, placeholder=" ...")
            colour = COLOURS[1] if foreign else "#333333"
            words = f"{label}: {text}".replace("$", r"\$")
            panel.text(0, 0.85 - 0.2 * line, words, color=colour, fontsize=8, va="center")
    figure.supxlabel("in colour: inconsistent", fontsize=8)
    return figure
