"""The command that lists algorithms, environments, datasets, encoders and studies."""

import csv
import json
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from robustssl.cli._options import Format, FormatOption
from robustssl.cli._print import print_table


class Kind(StrEnum):
    algorithms = "algorithms"
    environments = "environments"
    datasets = "datasets"
    encoders = "encoders"
    studies = "studies"


def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    format_: FormatOption = Format.table,
) -> None:
    """List algorithms, environments, datasets, encoders or studies."""
    from robustssl import registry
    from robustssl.studies.files import named, read_study

    if kind is Kind.studies:
        rows: list[dict[str, Any]] = [
            {"name": name, "summary": read_study(path)["title"]} for name, path in named().items()
        ]
    else:
        rows = registry.catalog(kind.removesuffix("s"))  # type: ignore[arg-type]
    if format_ is Format.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        row["presets"] = ", ".join(row.get("presets", ()))
        row["claims"] = ", ".join(row.get("targets", ()))
    told = ("name", "presets", "claims", "summary")
    columns = [name for name in told if any(row[name] for row in rows)]
    cells = [[row[name] for name in columns] for row in rows]
    if format_ is Format.csv:
        csv.writer(sys.stdout).writerows([columns, *cells])
    else:
        print_table(columns, cells)
