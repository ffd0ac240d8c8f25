"""Options that several commands share."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

DEFAULT_STORE = "robustssl.sqlite"

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        "-s",
        help="The store of records: an SQLite file, or postgresql+psycopg://USER@HOST/DATABASE.",
    ),
]


TrustOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Import this module if the file names it; by default only what comes with robustssl "
        "or with an installed package is looked up. May be repeated."
    ),
]


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"


FormatOption = Annotated[Format, typer.Option("--format", "-f", help="Output format.")]


def listed(words: Sequence[str] | None) -> list[str]:
    """What is given with an option that may be repeated, or hold several parts between commas;
    commas inside of brackets are no such ones.
    """
    parts = (part.strip() for word in words or () for part in re.split(r",(?![^\[]*\])", word))
    return [part for part in parts if part]
