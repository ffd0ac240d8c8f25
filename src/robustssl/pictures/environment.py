"""A picture of an environment: what happens to the unlabeled data as t grows."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from robustssl import registry
from robustssl.errors import InputError
from robustssl.preprocessing import Matrix
from robustssl.reports.style import MARKERS, colours, save, style
from robustssl.spec import parse
from robustssl.splits import Prepared, prepare

_TS = (0.0, 0.5, 1.0)


def show(
    environment: str, dataset: str, out: str | Path = "environment", labels: int = 5, seed: int = 0
) -> list[Path]:
    """Draw the unlabeled data at t = 0, 0.5 and 1 into OUT.png, .svg and .pdf."""
    spec = registry.canonical("environment", environment)
    if "access" in parse(spec)[1]:
        raise InputError("a picture shows what there is: leave access out")
    prepared = prepare(registry.canonical("dataset", dataset), spec, labels, seed)
    draw = {"tabular": _draw_points, "image": _draw_images, "text": _draw_texts}
    with style():
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
    plane = make_pipeline(FunctionTransformer(_two_or_more), PCA(2)).fit(prepared.split(0.0).X)
    figure, axes = _panels(1, 3, (9, 3.4), share=True)
    for panel, t in zip(axes[0], _TS, strict=True):
        split = prepared.split(t)
        points = plane.transform(split.X)
        whole = np.isclose(split.X, prepared.preprocess(pools.data.X[split.rows])).all(1)
        inconsistent = np.isin(split.rows, pools.inconsistent)
        if pools.by_column:
            inconsistent &= ~whole  # features go missing in every row
        for k in np.unique(y):
            colour, marker = colours()[k % len(colours())], MARKERS[k % len(MARKERS)]
            look = {"marker": marker, "edgecolors": colour, "linewidths": 0.8}
            free = (y[split.rows] == k) & (np.arange(len(points)) >= labeled)
            first = (y[split.rows] == k) & (np.arange(len(points)) < labeled)
            panel.scatter(
                *points[free & ~inconsistent].T, s=10, facecolors=colour, alpha=0.6, **look
            )
            panel.scatter(*points[free & inconsistent].T, s=14, facecolors="none", **look)
            panel.scatter(*points[first].T, s=55, facecolors=colour, zorder=3, **look)
        panel.set_title(f"t = {t:g}")
        panel.set_xticks([])
        panel.set_yticks([])
    axes[0][0].set_xlabel("large: labeled; hollow: inconsistent")
    return figure


def _examples(prepared: Prepared, t: float, count: int) -> Iterator[tuple[Any, str, bool]]:
    """Unlabeled rows at t, spread evenly, with their class and whether they are inconsistent."""
    pools = prepared.pools
    split = prepared.environment.split(pools, t)
    X, rows = split.X[len(pools.labeled) :], split.rows[len(pools.labeled) :]
    for place in np.linspace(0, len(rows) - 1, count).astype(int):
        label = pools.data.class_name(pools.data.y[rows[place]])
        yield X[place], label, bool(np.isin(rows[place], pools.inconsistent))


def _two_or_more(X: Matrix) -> Matrix:
    """A lone feature is drawn on a line."""
    return X if X.shape[1] > 1 else np.hstack([X, np.zeros_like(X)])


def _draw_images(prepared: Prepared) -> Figure:
    """A strip of unlabeled images at each t, those of one place under each other."""
    figure, axes = _panels(3, 10, (9, 3.2))
    for row, t in zip(axes, _TS, strict=True):
        for panel, (image, label, inconsistent) in zip(
            row, _examples(prepared, t, 10), strict=True
        ):
            grey = image.shape[-1] == 1
            panel.imshow(image[..., 0] if grey else image, cmap="gray" if grey else None)
            panel.set_title(label, fontsize=7)
            panel.set_xticks([])
            panel.set_yticks([])
            for spine in panel.spines.values():
                spine.set(visible=inconsistent, color=colours()[1], linewidth=2)
        row[0].set_ylabel(f"t = {t:g}")
    figure.supxlabel("framed: inconsistent", fontsize=8)
    return figure


def _draw_texts(prepared: Prepared) -> Figure:
    """A few unlabeled texts at each t."""
    figure, axes = _panels(3, 1, (9, 5.4))
    for panel, t in zip(axes[:, 0], _TS, strict=True):
        panel.set_title(f"t = {t:g}", loc="left")
        panel.set_axis_off()
        for line, (text, label, inconsistent) in enumerate(_examples(prepared, t, 5)):
            colour = colours()[1] if inconsistent else "#333333"
            words = textwrap.shorten(f"{label}: {text}", 140, placeholder=" ...")
            words = words.replace("$", r"\$")
            panel.text(0, 0.85 - 0.2 * line, words, color=colour, fontsize=8, va="center")
    figure.supxlabel("in colour: inconsistent", fontsize=8)
    return figure
