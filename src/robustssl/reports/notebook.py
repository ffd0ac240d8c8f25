"""Curves and tables that show themselves in a notebook."""

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from robustssl.analysis.curves import TASK, KeyedCurve, task_in_words
from robustssl.analysis.curves import curves as curves_of
from robustssl.analysis.table import study_table
from robustssl.errors import InputError, unknown
from robustssl.records.results import read
from robustssl.reports.curve_figures import draw_curves, draw_gains
from robustssl.reports.shown import looks_of, shown
from robustssl.reports.style import style
from robustssl.spec import parse

_FIRST = ["task", "method", "rank", "gain", "AUC", "WA", "EVM", "RCC"]


@dataclass(frozen=True)
class Drawing:
    """A figure; in a notebook it is shown."""

    figure: Figure

    def _repr_svg_(self) -> str:
        buffer = io.StringIO()
        with style():
            self.figure.savefig(buffer, format="svg", metadata={"Date": None})
        return buffer.getvalue()


class Table(pd.DataFrame):  # type: ignore[misc]
    """A frame of plain numbers, which pandas sorts and filters, and a notebook shows rounded."""

    @property
    def _constructor(self) -> Any:
        return Table

    def _repr_html_(self) -> str:
        numbers = self.select_dtypes("float").columns
        forms = {name: "{:+.3f}".format for name in numbers if "gain" in str(name)}
        how = {"display.float_format": "{:.3f}".format, "display.max_colwidth": None}
        with pd.option_context(how):
            return str(
                self.to_html(
                    formatters={**forms, **{name: _whole for name in numbers if name == "rank"}},
                    max_rows=pd.get_option("display.max_rows"),
                    max_cols=pd.get_option("display.max_columns"),
                    notebook=True,
                )
            )


def _whole(rank: float) -> str:
    return "" if pd.isna(rank) else f"{rank:.0f}"


@dataclass(frozen=True)
class Curves:
    """Curves of one score, which a notebook shows as a figure and a table."""

    found: tuple[KeyedCurve, ...]
    score: str
    source: str | Path = ""

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[KeyedCurve]:
        return iter(self.found)

    def to_pandas(self) -> Table:
        """A row a curve, what a reader wants first in the first columns: metrics with intervals,
        gain over the baseline, rank.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            table = study_table(self.found)
        table["task"] = [task_in_words(place) for place in table[TASK].itertuples(index=False)]
        return Table(table[[*_FIRST, *(name for name in table if name not in _FIRST)]])

    def plot(
        self,
        gain: bool = False,
        *,
        methods: Sequence[str] = (),
        tasks: Sequence[str] = (),
        names: Mapping[str, str] | None = None,
        score: str | None = None,
        axes: Any = None,
        width: str | None = None,
    ) -> Drawing:
        """The curves, or their gains over the baselines: of the methods asked for, else of those
        that matter, on all tasks or some, given by their names or by those of their datasets and
        environments. `names` are what to call methods, datasets and environments; `score` another
        score of the same records; `axes` those of a figure of your own, one for each task; `width`
        that of a `column` or `page`.
        """
        of = self if score in (None, self.score) else curves(self.source, str(score))
        found = of._on(tasks)
        with style(printed=width is not None):
            look = looks_of([*self.found, *of.found])  # the same for all scores and tasks
            view = replace(shown(found, methods, names, width), looks=look)
            if not gain:
                return Drawing(draw_curves(found, of.score, view, axes))
            drawn = draw_gains(found, view, axes)
        if drawn is None:
            raise InputError("no gain is known: the baselines of these methods have no curves here")
        return Drawing(drawn)

    def _on(self, tasks: Sequence[str]) -> list[KeyedCurve]:
        """The curves of some tasks; all of them if none is named."""
        called = [{*_names_of(curve)} for curve in self.found]
        for task in tasks:
            if not any(task in names for names in called):
                raise unknown("task", task, {task_in_words(_place(c)) for c in self.found})
        pairs = zip(self.found, called, strict=True)
        return [curve for curve, names in pairs if not tasks or names & {*tasks}]

    def _repr_html_(self) -> str:
        table = self.to_pandas()[[*_FIRST, "break_even", "note"]]
        return f"{self.plot()._repr_svg_()}{table._repr_html_()}"


def _place(curve: KeyedCurve) -> list[Any]:
    return [curve.key[name] for name in TASK]


def _names_of(curve: KeyedCurve) -> Iterator[str]:
    """By which names a task may be called."""
    yield task_in_words(_place(curve))
    for spec in (curve.key["environment"], curve.key["dataset"]):
        if spec is not None:
            yield from (spec, parse(spec)[0])


def curves(source: str | Path = "robustssl.sqlite", score: str = "accuracy") -> Curves:
    """The curves of a store, or of a file or folder of results."""
    found = tuple(curve for curve in curves_of(read(source, score)) if curve.is_whole)
    return Curves(found, score, source)
