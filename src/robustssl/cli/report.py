"""What a store holds, shown: tables, figures, pages and metrics."""

import signal
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from robustssl.cli._options import DEFAULT_STORE, Format, FormatOption, StoreOption
from robustssl.cli._print import notes, say


def report(
    store: StoreOption = DEFAULT_STORE,
    folder: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path(
        "report"
    ),
    score: Annotated[
        str, typer.Option(help="accuracy, balanced_accuracy, macro_f1, auroc or detection.")
    ] = "accuracy",
    sort: Annotated[
        str, typer.Option(help="The metric to sort by: AUC, Acc0, WA, EVM, VS, RCC or gain.")
    ] = "AUC",
    style: Annotated[
        Path | None, typer.Option(help="A style file of matplotlib, over the project's own.")
    ] = None,
    published: Annotated[
        Path | None, typer.Option(help="Reported results to lay beside the measured ones.")
    ] = None,
) -> None:
    """Write tables (markdown, csv, JSON, LaTeX) and figures (PNG, SVG, PDF) of a store."""
    from robustssl import reports

    files = reports.report(store, folder, score=score, sort=sort, style=style, published=published)
    pictures = [f for f in files if f.suffix == ".png"]
    say("The numbers:", *(f for f in files if f.stem == "table"))
    say("The pictures (also as .svg and .pdf):", *pictures)


def site(
    folder: Annotated[Path, typer.Argument(help="The folder to write.")] = Path("site"),
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Build pages that open from disk: overview, leaderboard, explorer, methods and tasks.

    `--store` may also be a file or folder of exported records (jsonl, jsonl.gz).
    """
    from robustssl import sites

    say(f"Open {sites.site(store, folder)} in a browser.")


def serve(
    store: StoreOption = DEFAULT_STORE,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address; any but 127.0.0.1 lets others read the page.")
    ] = "127.0.0.1",
) -> None:
    """Show the pages of a store, also while it is being filled; read only, on this machine."""
    from robustssl.sites.serve import Server

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that it tidies up
    with Server(store, host, port) as server:
        say(f"{server.url} (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt):
            server.serve_forever()


class Convention(StrEnum):
    definition = "definition"
    published = "published"
    re_ssl = "re-ssl"


def metrics(
    path: Annotated[str, typer.Argument(help="A file or folder of results, or a store.")],
    convention: Annotated[
        Convention,
        typer.Option(
            help="definition: exact integrals; published: as the published tables were computed; "
            "re-ssl: the five numbers of RE-SSL."
        ),
    ] = Convention.definition,
    format_: FormatOption = Format.table,
    score: Annotated[
        str | None,
        typer.Option(help="The column to take; `score` where there is one, else accuracy."),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals", help="Add estimate, low and high of a 95% interval over seeds."
        ),
    ] = False,
) -> None:
    """Compute AUC, Acc0, WA, EVM, VS and RCC of every curve in a file or folder of results.

    A file is a csv with the columns algorithm, t, seed, score (more columns tell curves apart), a
    raw published file, exported records (jsonl) or a store (sqlite).
    """
    from robustssl.analysis.table import metrics

    with notes():
        table = metrics(path, convention, score=score, intervals=intervals)
    if format_ is Format.csv:
        table.to_csv(sys.stdout, index=False)
    elif format_ is Format.json:
        print(table.to_json(orient="records", indent=2))
    else:
        import pandas as pd
        from tabulate import tabulate

        from robustssl.analysis.table import show

        as_is: Any = {"tablefmt": "plain", "showindex": False, "disable_numparse": True}
        names = list(table.columns)
        task, rest = names[: names.index("algorithm")], names[names.index("algorithm") :]
        for values, rows in table.groupby(task, dropna=False, sort=False):
            known = {k: v for k, v in zip(task, values, strict=True) if not pd.isna(v)}
            say(", ".join(f"{k} {v}" for k, v in known.items()))
            say(tabulate(rows[rest].map(show), headers="keys", **as_is) + "\n")
