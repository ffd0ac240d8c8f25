"""Commands that tell of results: report, choose, metrics."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from robustssl.cli._options import DEFAULT_STORE, Format, FormatOption, StoreOption, listed
from robustssl.cli._print import notes, say


class Width(StrEnum):
    column = "column"
    page = "page"


def report(
    store: StoreOption = DEFAULT_STORE,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")] = Path("report"),
    score: Annotated[
        str | None,
        typer.Option(
            help="Score: accuracy, balanced_accuracy, macro_f1, auroc, detection or accuracy_there "
            "(on inconsistent rows). By default the one by which all environments are judged "
            "first, which is accuracy for most."
        ),
    ] = None,
    sort: Annotated[
        str, typer.Option(help="Metric to sort by: AUC, Acc0, WA, EVM, VS, RCC or gain.")
    ] = "AUC",
    style: Annotated[
        Path | None,
        typer.Option(help="Matplotlib style file, applied on top of the default style."),
    ] = None,
    published: Annotated[
        Path | None,
        typer.Option(help="File or folder of published results to show beside the measured ones."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Report only a part of the results, such as dataset=wine, algorithm=tsvm or "
            "environment=label; may be repeated."
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="Rule that chooses among the configurations of a search: default, transfer, cv, "
            "cv+abstain, confidence, rankme, bnm, agreement or oracle."
        ),
    ] = None,
    choices: Annotated[
        Path | None,
        typer.Option(help="File of the rule transfer, written by `robustssl choose`."),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(help="File of entrants that decide, written by `robustssl decide`."),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Methods that tables and figures show, such as fixmatch,uda; may be repeated. "
            "By default tables show all, and figures of curves the eight that matter most."
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            help="YAML file of what to call methods, datasets and environments, such as "
            "`fixmatch: FixMatch`, a line each."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="Columns of the tables, such as gain,AUC,WA; may be repeated."),
    ] = None,
    width: Annotated[
        Width | None,
        typer.Option(
            help="Width of figures and LaTeX tables: column (3.25 inches) or page (5.5 inches)."
        ),
    ] = None,
) -> None:
    """Write tables and figures of the results in a store.

    Tables are written as Markdown, CSV, JSON and LaTeX, figures as PNG, SVG and PDF. `--store` may
    also be a file or folder of exported records (.jsonl or .jsonl.gz). With more than 24 tasks,
    figures of single tasks are drawn only for a part (--only). --only leaves out records;
    --methods, --names, --columns and --width change no number.
    """
    from robustssl import reports

    files = reports.report(
        store,
        folder,
        score=score,
        sort=sort,
        style=style,
        published=published,
        only=only or (),
        rule=rule,
        choices=choices,
        decisions=decisions,
        methods=listed(methods),
        names=names,
        columns=listed(columns),
        width=width,
    )
    say("Tables:", *(f for f in files if f.suffix in (".md", ".csv", ".json", ".tex")))
    say("Figures (also as .svg and .pdf):", *(f for f in files if f.suffix == ".png"))


def choose(
    store: StoreOption = DEFAULT_STORE,
    file: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path(
        "choices.json"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(help="Choose on a part of the results, such as dataset=wine; repeatable."),
    ] = None,
) -> None:
    """Choose settings on development tasks, for the rule transfer.

    Of each method and kind of data the configuration that is best in the mean over the tasks of the
    store, under the belief Beta(2, 5) about t. Tasks of these datasets are never ranked with it.
    """
    from robustssl import reports

    with notes():
        made = reports.choose(store, file, only=only or ())
    for choice in made.made:
        say(f"{choice.data}, {choice.method}: number {choice.configuration}, {choice.setting}")
    say(f"Written to {file} (sha256 {made.sha256[:16]}), by {len(made.tasks)} tasks.")


class Convention(StrEnum):
    definition = "definition"
    published = "published"
    re_ssl = "re-ssl"


def metrics(
    path: Annotated[str, typer.Argument(help="A file or folder of results, or a store.")],
    convention: Annotated[
        Convention,
        typer.Option(
            help="definition: exact integrals; published: as in the published tables; "
            "re-ssl: the five metrics of RE-SSL."
        ),
    ] = Convention.definition,
    format_: FormatOption = Format.table,
    score: Annotated[
        str | None,
        typer.Option(help="Column of the score; by default `score`, or accuracy if there is none."),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option("--intervals", help="Add a 95% interval over seeds: estimate, low and high."),
    ] = False,
) -> None:
    """Compute robustness metrics of every curve in a file or folder.

    The metrics are AUC, Acc0, WA, EVM, VS and RCC. A file is a CSV file with the columns algorithm,
    t, seed and score (any other column distinguishes curves), a raw published file, exported
    records (.jsonl) or a store (.sqlite).
    """
    from robustssl.analysis.table import metrics

    with notes():
        table = metrics(path, convention, score=score, intervals=intervals)
    if format_ is Format.csv:
        from robustssl.records.sheets import csv_of

        print(csv_of(table), end="")
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
