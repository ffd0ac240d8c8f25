"""What figures and LaTeX tables show: which methods, by which names, how they look, how wide."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from robustssl.analysis.curves import KeyedCurve
from robustssl.analysis.matter import left_out, that_matter
from robustssl.cell import Task
from robustssl.errors import InputError, unknown
from robustssl.reports.style import in_figures, looks
from robustssl.spec import parse

WIDTHS = {"column": 3.25, "page": 5.5}  # inches: of a column, and of the text of a page
Names = Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Shown:
    """`methods` are the names of those that figures of curves show; None: all. `asked` are those
    that a reader asked for, in that order, which tables and all figures show; None: all. `names`
    are what to call methods, datasets and environments. A method has one of the `looks` in all
    figures. `left_out` tells of methods that are not shown.
    """

    methods: Sequence[str] | None = None
    asked: Sequence[str] | None = None
    names: Names = field(default_factory=dict)
    looks: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    width: str | None = None
    left_out: str = ""

    @property
    def inches(self) -> float | None:
        return WIDTHS[self.width] if self.width else None

    def name(self, text: str) -> str:
        """What to call something."""
        return self.names.get(text, text)

    def label(self, text: str) -> str:
        """What to call something in a figure."""
        return in_figures(self.name(text))

    def curves(self, found: Iterable[KeyedCurve]) -> list[KeyedCurve]:
        """Those to draw: of the methods shown, on tasks proper, not of oracles and ceilings."""
        every = list(found)
        proper = [c for c in every if _is_proper(c.key["environment"])] or every
        return [c for c in proper if self.methods is None or c.name in self.methods]

    def rows(self, table: pd.DataFrame, few: bool = False) -> pd.DataFrame:
        """Those of the methods asked for; with `few` what figures of curves show."""
        names = self.methods if few else self.asked
        return table if names is None else table[table.method.isin(names)]

    def look_of(self, found: Iterable[KeyedCurve]) -> Mapping[str, dict[str, Any]]:
        return self.looks or looks_of(found)

    def in_order(self, names: Iterable[str], look: Mapping[str, dict[str, Any]]) -> list[str]:
        """Names as a legend has them: as asked for, else baselines first."""
        if self.asked is not None:
            return [name for name in self.asked if name in {*names}]
        return sorted(names, key=lambda name: (look[name]["zorder"], name))


EVERYTHING = Shown()


def _is_proper(environment: Any) -> bool:
    """Whether it is no oracle or ceiling; a published result may have no environment."""
    return Task(environment, "", None).access is None if isinstance(environment, str) else True


def proper(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table that are not of oracles and ceilings; all if there are no others."""
    rows = table[table.environment.map(_is_proper).astype(bool)]
    return rows if len(rows) else table


def looks_of(found: Iterable[KeyedCurve]) -> dict[str, dict[str, Any]]:
    return looks({c.name: c.method.supervised if c.method else None for c in found})


def shown(
    found: Sequence[KeyedCurve],
    methods: Sequence[str] = (),
    names: Names | str | Path | None = None,
    width: str | None = None,
) -> Shown:
    """What to show of some curves: the methods asked for, or those that matter and, in grey, their
    baselines. `names` is a mapping, or a YAML file of one.
    """
    if width is not None and width not in WIDTHS:
        raise unknown("width", width, WIDTHS)
    called = read_names(names) if isinstance(names, str | Path) else dict(names or {})
    look = looks_of(found)
    if methods:
        asked = [name for method in methods for name in _named(method, found)]
        return Shown(asked, asked, called, look, width)
    matter = that_matter(found)
    baselines = {(c.place, c.method.baseline) for c in found if c.method and c.name in matter}
    grey = {c.name for c in found if (c.place, c.algorithm) in baselines}
    if not matter:  # baselines alone
        return Shown(None, None, called, look, width)
    return Shown([*grey, *matter], None, called, look, width, left_out(found))


def _named(asked: str, found: Sequence[KeyedCurve]) -> list[str]:
    """The methods of that name or spec; else those of that algorithm, whatever their options."""
    exact = dict.fromkeys(c.name for c in found if asked in (c.name, c.algorithm))
    alike = exact or dict.fromkeys(c.name for c in found if parse(c.algorithm)[0] == asked)
    if not alike:
        raise unknown("method", asked, {c.name for c in found})
    return list(alike)


def read_names(path: str | Path) -> dict[str, str]:
    """What to call methods, datasets and environments, from a YAML file."""
    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise InputError(f"cannot read the names in {path}: {error}") from error
    texts = isinstance(document, dict) and all(
        isinstance(text, str) for pair in document.items() for text in pair
    )
    if not texts:
        raise InputError(f"{path} must hold names, such as `fixmatch: FixMatch`, a line each")
    return dict(document)
