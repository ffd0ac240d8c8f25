"""Panels of a picture: the unlabeled data of a prepared task at one t."""

import textwrap
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from robustssl.data import Rows
from robustssl.preprocessing import Matrix
from robustssl.reports.style import MARKERS, colours, in_figures
from robustssl.splits import Prepared

_NAMED = 12  # classes, at most, whose names stand beside their bars
_PLAIN = "#333333"
_POINTS = 240  # unlabeled rows, at most, that are drawn as points


def marked() -> str:
    """The colour of what is inconsistent."""
    return colours()[1]


def look(code: int) -> tuple[str, str]:
    """The colour and the marker of a class."""
    return colours()[code % len(colours())], MARKERS[code % len(MARKERS)]


def unlabeled(prepared: Prepared, t: float) -> tuple[Matrix, Rows, npt.NDArray[np.bool_]]:
    """The unlabeled rows at t as they are, their row ids, and which are inconsistent."""
    labeled = len(prepared.pools.labeled)
    split = prepared.environment.split(prepared.pools, t)
    rows = split.rows[labeled:]
    return split.X[labeled:], rows, np.isin(rows, prepared.pools.inconsistent)


def points(panel: Any, prepared: Prepared, t: float) -> None:
    """Two principal components of t = 0: classes by colour, labeled large, inconsistent hollow. Of
    many unlabeled rows some are drawn, at even distances, so that their shares stay.
    """
    pools = prepared.pools
    y, labeled = pools.data.y, len(pools.labeled)
    split = prepared.split(t)
    places = _plane(prepared).transform(split.X)
    inconsistent = np.isin(split.rows, pools.inconsistent)
    if pools.by_column:  # features go missing in every row
        whole = np.isclose(split.X, prepared.preprocess(pools.data.X[split.rows])).all(1)
        inconsistent &= ~whole
    some = np.zeros(len(places), bool)
    some[np.linspace(labeled, len(places) - 1, min(_POINTS, len(places) - labeled)).astype(int)] = 1
    for k in np.unique(y):
        colour, marker = look(k)
        drawn = {"marker": marker, "edgecolors": colour, "linewidths": 0.8}
        free = (y[split.rows] == k) & some
        first = (y[split.rows] == k) & (np.arange(len(places)) < labeled)
        panel.scatter(*places[free & ~inconsistent].T, s=10, facecolors=colour, alpha=0.6, **drawn)
        panel.scatter(*places[free & inconsistent].T, s=14, facecolors="none", **drawn)
        panel.scatter(*places[first].T, s=55, facecolors=colour, zorder=3, **drawn)
    panel.set(xticks=[], yticks=[])


@lru_cache(maxsize=1)
def _plane(prepared: Prepared) -> Pipeline:
    return make_pipeline(FunctionTransformer(_two_or_more), PCA(2)).fit(prepared.split(0.0).X)


def _two_or_more(X: Matrix) -> Matrix:
    """A lone feature is drawn on a line."""
    return X if X.shape[1] > 1 else np.hstack([X, np.zeros_like(X)])


def examples(prepared: Prepared, t: float, count: int) -> Iterator[tuple[Any, str, bool]]:
    """Unlabeled rows at t, spread evenly, with their class and whether they are inconsistent."""
    X, rows, inconsistent = unlabeled(prepared, t)
    data = prepared.pools.data
    for place in ((np.arange(count) + 0.5) / count * len(rows)).astype(int):
        yield X[place], data.class_name(data.y[rows[place]]), bool(inconsistent[place])


def images(panels: Iterable[Any], prepared: Prepared, t: float) -> None:
    """An unlabeled image in each panel, with its class; framed if inconsistent."""
    panels = list(panels)
    for panel, example in zip(panels, examples(prepared, t, len(panels)), strict=True):
        image, label, inconsistent = example
        grey = image.shape[-1] == 1
        shown = {"cmap": "gray", "vmin": 0, "vmax": 255, "interpolation": "nearest"}
        panel.imshow(image[..., 0] if grey else image, **shown)
        panel.set_title(in_figures(label), fontsize=7, pad=3)
        panel.set(xticks=[], yticks=[])
        for spine in panel.spines.values():
            spine.set(visible=inconsistent, color=marked(), linewidth=2)


def texts(panel: Any, prepared: Prepared, t: float, count: int = 5, width: int = 140) -> None:
    """The beginnings of unlabeled texts behind their classes, in colour if inconsistent."""
    panel.set_axis_off()
    for line, (text, label, inconsistent) in enumerate(examples(prepared, t, count)):
        words = in_figures(textwrap.shorten(f"{label}: {text}", width, placeholder=" ..."))
        colour = marked() if inconsistent else _PLAIN
        panel.text(0, 1 - (line + 0.5) / count, words, color=colour, fontsize=8, va="center")


def shares(panel: Any, prepared: Prepared, t: float) -> None:
    """A bar for the share of each class among the unlabeled rows; hollow what is inconsistent."""
    pools = prepared.pools
    _, rows, inconsistent = unlabeled(prepared, t)
    codes = np.unique(pools.data.y[np.concatenate([pools.consistent, pools.inconsistent])])
    for place, code in enumerate(codes):
        colour, of_class = look(code)[0], pools.data.y[rows] == code
        filled, hollow = (float(np.mean(of_class & part)) for part in (~inconsistent, inconsistent))
        panel.barh(place, filled, color=colour, edgecolor=colour, linewidth=0.8)
        panel.barh(place, hollow, left=filled, color="none", edgecolor=colour, linewidth=0.8)
    panel.grid(visible=False)
    panel.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    panel.tick_params(labelsize=7)
    names = [in_figures(textwrap.shorten(pools.data.class_name(k), 16)) for k in codes]
    few = len(codes) <= _NAMED
    panel.set_yticks(range(len(codes)) if few else [], names if few else [])
    panel.set_ylim(len(codes) - 0.5, -0.5)
