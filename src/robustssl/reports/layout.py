"""How the panels of a figure lie: in rows as tasks ask for it, as wide as a paper allows."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from robustssl.errors import InputError

NARROW = 1.5  # inches that a panel has at least
COLUMNS = 5  # panels side by side where nothing bounds the width


class Grid:
    """Panels in rows of so many, with one legend below. Where a row does not fit into the width,
    all panels follow each other (`is_flat`). With `axes` these are the panels.
    """

    def __init__(
        self, counts: Sequence[int], labels: Sequence[str], inches: float | None, axes: Any = None
    ) -> None:
        if axes is not None:
            self._take(counts, axes)
            return
        most = int(inches // NARROW) if inches else COLUMNS
        self.is_flat = max(counts) > most
        columns = min(most, sum(counts)) if self.is_flat else max(counts)
        rows = -(-sum(counts) // columns) if self.is_flat else len(counts)
        width = inches or max(3.0 * columns, 5.0)
        self.panel_width = width / columns
        self.panel_height = min((0.8 if inches else 0.6) * max(self.panel_width, 1.6), 1.9)
        self.panel_height += 0.2 * self.is_flat
        lines = -(-len(labels) // legend_columns(labels, width))
        size = _points("legend.fontsize") / 72
        height = (self.panel_height + 3.5 * size) * rows + 1.6 * size * lines + 0.3
        self.figure = Figure(figsize=(width, height), layout="constrained")
        share: Any = {"sharex": not self.is_flat, "sharey": False if self.is_flat else "row"}
        every = self.figure.subplots(rows, columns, squeeze=False, **share)
        if self.is_flat:
            flat = iter(every.flat)
            self.rows = [list(islice(flat, count)) for count in counts]
        else:
            self.rows = [list(panels[:count]) for panels, count in zip(every, counts, strict=True)]
        used = {id(panel) for panel in self.panels}
        for panel in every.flat:
            if id(panel) not in used:
                panel.set_axis_off()

    def _take(self, counts: Sequence[int], axes: Any) -> None:
        """Use the axes of somebody's own figure."""
        every = list(np.atleast_1d(np.asarray(axes, object)).flat)
        if len(every) != sum(counts):
            raise InputError(
                f"there are {sum(counts)} tasks to draw and {len(every)} axes: give as many axes, "
                "or fewer tasks"
            )
        self.is_flat, flat = True, iter(every)
        self.rows = [list(islice(flat, count)) for count in counts]
        self.figure = every[0].figure
        box = every[0].get_window_extent()
        self.panel_width, self.panel_height = (x / self.figure.dpi for x in (box.width, box.height))

    @property
    def panels(self) -> list[Any]:
        return [panel for row in self.rows for panel in row]

    def set_title(self, panel: Any, *lines: str) -> None:
        """Lines above a panel, broken where they are too long for it."""
        room = characters(self.panel_width, "axes.titlesize")
        panel.set_title("\n".join(broken(line, room) for line in lines))

    def set_row_name(self, panel: Any, name: str, what: str) -> None:
        """What a row is called, beside its first panel, above what is on the axis."""
        panel.set_ylabel(f"{broken(name, characters(self.panel_height, 'axes.labelsize'))}\n{what}")

    def label_outer(self) -> None:
        """Leave out labels between panels; the lowest panel of each column keeps those below it."""
        for row, panels in enumerate(self.rows):
            for column, panel in enumerate(panels):
                below = any(column < len(others) for others in self.rows[row + 1 :])
                panel.tick_params(labelbottom=not below, labelleft=column == 0)
                panel.set_xlabel("" if below else panel.get_xlabel())

    def add_legend(self, handles: Sequence[Any], labels: Sequence[str], said: str) -> None:
        """One legend for all panels, below them, with what is to be said above its entries."""
        width = self.figure.get_figwidth()
        self.figure.legend(
            handles,
            labels,
            title=broken(said, characters(width, "legend.fontsize")) if said else None,
            loc="outside lower center",
            ncols=legend_columns(labels, width),
            frameon=False,
            handlelength=3.0,
        )


def legend_columns(names: Sequence[str], inches: float) -> int:
    """As many as fit, where a line and the space around it take about 8 characters."""
    most = characters(inches, "legend.fontsize") // (max(map(len, names)) + 8)
    return max(1, min(4, len(names), most))


def broken(text: str, room: int) -> str:
    """A text in lines of so many characters at most, broken at spaces and inside of names where
    one may read on; a piece that is too long is cut.
    """
    lines = [""]
    for piece in re.findall(r".+?(?:[_:,=/\[ ]|(?=\[)|$)", text):
        if len(lines[-1] + piece.rstrip()) > room and lines[-1]:
            lines.append("")
        while len(piece.rstrip()) > room:
            lines[-1], piece = piece[:room], piece[room:]
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.strip() for line in lines)


def characters(inches: float, size: str) -> int:
    """How many characters of a size, such as axes.titlesize, fit into a length."""
    return max(8, int(72 * inches / (0.57 * _points(size))))


def _points(size: str) -> float:
    settings: Any = matplotlib.rcParams
    return float(FontProperties(size=settings[size]).get_size_in_points())
