"""How commands print: plain text, tables, durations and warnings."""

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from robustssl.errors import bounded, printable

out, err = Console(), Console(stderr=True)

_LONGEST = 20_000  # characters of a warning, such as the log of a cell

# Columns that are wrapped in a narrow terminal, and their largest width.
_WRAPPED = {"summary": None, "presets": 10, "claims": 13}


def say(*words: object) -> None:
    """Print plain text to the output."""
    _print(out, words)


def warn(*words: object) -> None:
    """Print plain text to the error stream, cut if it is very long."""
    _print(err, [bounded(" ".join(map(str, words)), _LONGEST)])


def _print(console: Console, words: Iterable[object]) -> None:
    text = _safe(" ".join(map(str, words)))
    console.print(text, emoji=False, highlight=False, markup=False, soft_wrap=True)


def _safe(text: str) -> str:
    """A text, perhaps from a stranger's file, that cannot steer the terminal, and shows no
    password (of user:password@host).
    """
    return re.sub(r"(?<=[^\s:/@]):[^\s:@]+@", ":***@", printable(text))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table to the output; names are never cut, however narrow the terminal."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        table.add_column(name, no_wrap=name not in _WRAPPED, max_width=_WRAPPED.get(name))
    for row in rows:
        table.add_row(*(Text(_safe(cell)) for cell in row))
    out.print(table)
    out.print()


def duration(seconds: float) -> str:
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds" if seconds >= 1.5 else "a second or less"


@contextmanager
def notes() -> Iterator[None]:
    """Print Python warnings as notes to the error stream, each once."""
    told = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in told:
            told.add(str(message))
            warn(f"note: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
