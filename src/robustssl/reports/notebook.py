"""Curves that show themselves in a notebook."""

import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from robustssl.analysis.curves import KeyedCurve
from robustssl.analysis.curves import curves as curves_of
from robustssl.analysis.table import study_table
from robustssl.records.results import read
from robustssl.reports.curve_figures import draw_curves, draw_gains
from robustssl.reports.style import style


@dataclass(frozen=True)
class Drawing:
    """A figure; in a notebook it is shown."""

    figure: Figure

    def _repr_svg_(self) -> str:
        buffer = io.StringIO()
        with style():
            self.figure.savefig(buffer, format="svg", metadata={"Date": None})
        return buffer.getvalue()


@dataclass(frozen=True)
class Curves:
    """Curves of one score, which a notebook shows as a figure and a table."""

    found: tuple[KeyedCurve, ...]
    score: str

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[KeyedCurve]:
        return iter(self.found)

    def to_pandas(self) -> pd.DataFrame:
        """A row a curve: metrics with intervals, gain over the baseline, rank."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return study_table(self.found)

    def plot(self, gain: bool = False) -> Drawing:
        """The curves, or their gains over the baselines."""
        with style():
            drawn = draw_gains(self.found) if gain else draw_curves(self.found, self.score)
            return Drawing(Figure() if drawn is None else drawn)

    def _repr_html_(self) -> str:
        names = ["environment", "dataset", "labels", "method", "rank", "AUC", "WA", "EVM", "RCC"]
        table = self.to_pandas()[[*names, "gain", "break_even"]]
        return f"{self.plot()._repr_svg_()}{table.to_html(index=False, float_format='%.3f')}"


def curves(source: str | Path = "robustssl.sqlite", score: str = "accuracy") -> Curves:
    """The curves of a store, or of a file or folder of results."""
    return Curves(tuple(c for c in curves_of(read(source, score)) if c.is_whole), score)
