"""Tables as csv files that a spreadsheet opens without taking a text for a formula."""

import re
from typing import Any

import pandas as pd

from robustssl.errors import printable

_FORMULA = re.compile(r"'*[=+\-@\t]")  # how a text begins that a spreadsheet would run


def csv_of(frame: pd.DataFrame) -> str:
    """A frame as csv. An apostrophe goes before a text that begins like a formula, as
    spreadsheets have it; control characters are shown as \\x1b. Numbers are as they are.
    """
    texts = frame.select_dtypes(exclude=["number", "bool"])
    safe = {
        name: column.map({value: _cell(value) for value in column.unique()})
        for name, column in texts.items()
    }
    return str(frame.assign(**safe).to_csv(index=False))


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return "'" * bool(_FORMULA.match(value)) + printable(value)


def without_apostrophes(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame that `csv_of` wrote, with its texts as they were."""
    texts = frame.select_dtypes(exclude=["number", "bool"])
    return frame.assign(**{name: column.map(_plain) for name, column in texts.items()})


def _plain(value: Any) -> Any:
    marked = isinstance(value, str) and value.startswith("'") and _FORMULA.match(value)
    return value[1:] if marked else value
