"""Options that several commands share."""

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
