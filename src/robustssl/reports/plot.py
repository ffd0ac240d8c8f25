"""Figures: Robustness Analysis Curves, a panel for each dataset and environment."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from robustssl.curve import Curve
from robustssl.reports.table import trait
from robustssl.results import KeyedCurve

# Okabe and Ito's colours, which a colour-blind reader can tell apart; grey is kept for baselines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_GREYS = ("#777777", "#aaaaaa")
_DASHES = ("-", "--", "-.", ":")

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "svg.hashsalt": "robustssl",
    "svg.fonttype": "none",
}


def draw_curves(found: Sequence[KeyedCurve], score: str) -> Figure:
    """All curves with their 95% bands over seeds: a row for each dataset, a column for each
    environment.
    """
    rows = sorted({(c.key["dataset"], c.key["labels"]) for c in found})
    columns = sorted({c.key["environment"] for c in found})
    looks = _looks(sorted({c.key["algorithm"] for c in found}))
    with matplotlib.rc_context(STYLE):
        width = max(3.0 * len(columns), 5.0)
        lines = len(looks) // _legend_columns(list(looks), width)
        height = (2.3 if len(looks) <= 8 else 3.5) * len(rows) + 0.5 + 0.17 * lines
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey="row")
        for i, (dataset, labels) in enumerate(rows):
            axes[i][0].set_ylabel(f"{dataset}, {labels} labels a class\n{score.replace('_', ' ')}")
            for j, environment in enumerate(columns):
                panel = axes[i][j]
                place = (dataset, labels, environment)
                for curve in found:
                    if place == tuple(curve.key[k] for k in ("dataset", "labels", "environment")):
                        _draw(panel, curve, looks[curve.key["algorithm"]])
                if not panel.lines:
                    panel.text(0.5, 0.5, "no scores", ha="center", transform=panel.transAxes)
                if i == 0:
                    panel.set_title(environment)
                if i == len(rows) - 1:
                    panel.set_xlabel("inconsistency t")
        handles = {line.get_label(): line for panel in axes.flat for line in panel.lines}
        names = sorted(handles, key=list(looks).index)
        figure.legend(
            [handles[name] for name in names],
            names,
            loc="outside lower center",
            ncols=_legend_columns(names, figure.get_figwidth()),
            frameon=False,
            handlelength=3.0,
        )
    return figure


def _legend_columns(names: Sequence[str], inches: float) -> int:
    """As many as fit: a character takes about a 14th of an inch, line and space about 8 of them."""
    return max(1, min(3, len(names), int(14 * inches / (max(map(len, names)) + 8))))


def save(figure: Figure, path: Path) -> list[Path]:
    """The figure as PNG and SVG; the same figure is the same file."""
    png, svg = path.with_suffix(".png"), path.with_suffix(".svg")
    with matplotlib.rc_context(STYLE):
        figure.savefig(png, dpi=200)
        figure.savefig(svg, metadata={"Date": None})
    return [png, svg]


def _looks(algorithms: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour, marker and dash of each algorithm, baselines first."""
    baselines = [name for name in algorithms if trait(name, "supervised")]
    looks: dict[str, dict[str, Any]] = {}
    for name, colour, dash in zip(baselines, cycle(_GREYS), cycle(_DASHES), strict=False):
        looks[name] = {"color": colour, "linestyle": dash, "zorder": 1}
    methods = [name for name in algorithms if name not in looks]
    for i, name in enumerate(methods):
        turn, place = divmod(i, len(COLOURS))
        looks[name] = {
            "color": COLOURS[place],
            "marker": MARKERS[place],
            "linestyle": _DASHES[turn % len(_DASHES)],
            "zorder": 2,
        }
    return looks


def _draw(panel: Any, keyed: KeyedCurve, look: dict[str, Any]) -> None:
    curve = Curve(keyed.ts, keyed.scores)
    panel.plot(
        curve.ts, curve.mean, label=keyed.key["algorithm"], linewidth=1.4, markersize=3.5, **look
    )
    if curve.seeds > 1:
        panel.fill_between(curve.ts, *curve.band(), color=look["color"], alpha=0.13, linewidth=0)
