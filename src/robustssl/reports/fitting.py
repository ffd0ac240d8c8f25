"""Which columns of a LaTeX table fit into a width, and how: in which type, on how many lines."""

import re
from typing import NamedTuple

import pandas as pd

from robustssl.errors import InputError

SIZES = {"footnotesize": 8.0, "scriptsize": 7.0}  # points
GAP = 5.0  # points between columns
POINTS = 72.27  # of TeX in an inch
HANG = 0.5  # by how much further lines of a name are moved in, in units of the type's size
_MARK = 1.6  # the width of the letters that mark notes
_BREAKS = r"(?<=[_:,=\[ ])"
_NARROW, _SLIM, _WIDE = ".,:;[]()!|'il ", "frst", "+-<~=mwMW%"


class Fit(NamedTuple):
    """The texts of the columns that fit, the size of the type, and the width that is left for the
    first column, in units of that size.
    """

    texts: pd.DataFrame
    size: str
    room: float


def fitting(texts: pd.DataFrame, inches: float, *, must: bool) -> Fit:
    """Fit columns into a width: in the larger type if possible, intervals below their numbers where
    they do not fit beside them, and then without the last columns; if all of them `must` fit, an
    error. Names of methods, the first column, break where they may.
    """
    least = max(map(_least, texts.iloc[:, 0]), default=0.0)
    for count in range(len(texts.columns), 0, -1):
        some = texts.iloc[:, :count]
        for tried in (some, some.map(_stacked)):
            for size, points in SIZES.items():
                room = (inches * POINTS - GAP * (count - 1)) / points - sum(widths(tried))
                if room >= least or count == 1:
                    return Fit(tried, size, room)
        if must:
            names = ", ".join(texts.columns[1:])
            raise InputError(
                f"the columns {names} do not fit into {inches:g} inches: take fewer, or a wider "
                "table (--width page)"
            )
    raise InputError("a table needs a column")


def widths(texts: pd.DataFrame) -> list[float]:
    """Those of all columns but the first, in units of the type's size."""
    return [max(map(length, [name, *texts[name]])) for name in list(texts)[1:]]


def length(text: str) -> float:
    """About the width of the longest line of a text in a Roman type, in units of its size."""
    plain = re.sub(r"BOLD\((.*?)\)(?=\n|$)", r"\1", text)
    wide = 1.0 if plain == text else 1.15
    return wide * max(sum(_width(character) for character in line) for line in plain.split("\n"))


def _least(name: str) -> float:
    """The least width of a name that breaks, with a mark behind it."""
    first, *others = re.split(_BREAKS, name)
    *between, last = (length(first), *(HANG + length(piece) for piece in others))
    return max(*between, last + _MARK, 0.0)


def _width(character: str) -> float:
    if character in _NARROW:
        return 0.33
    return 0.42 if character in _SLIM else 0.86 if character in _WIDE else 0.57


def _stacked(text: str) -> str:
    """A number with its interval on a line of its own, both in bold if it was."""
    match = re.fullmatch(r"(BOLD\()?([-+\d.]+) (\[.*?\]~?|\(.*?\))\)?", text)
    if match is None:
        return text
    lines = (match[2], match[3])
    return "\n".join(f"BOLD({line})" if match[1] else line for line in lines)
