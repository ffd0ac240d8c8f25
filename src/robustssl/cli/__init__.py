"""The command line: parses and calls, nothing else."""

import csv
import json
import re
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from robustssl.errors import InputError
from robustssl.spec import parse, spell

app = typer.Typer(
    name="robustssl",
    help="What happens to a semi-supervised learner when its unlabeled data are not like its "
    "labeled data? Run a study, then report on it; `robustssl run quickstart` is a good start.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

out, err = Console(), Console(stderr=True)


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"


class Convention(StrEnum):
    definition = "definition"
    published = "published"
    re_ssl = "re-ssl"


class Kind(StrEnum):
    algorithms = "algorithms"
    environments = "environments"
    datasets = "datasets"
    studies = "studies"


def _version(asked: bool) -> None:
    if asked:
        from robustssl import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None: ...


StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        "-s",
        help="What keeps the records: a file (SQLite), or postgresql+psycopg://USER@HOST/DATABASE.",
    ),
]
ScoreOption = Annotated[
    str, typer.Option(help="accuracy, balanced_accuracy, macro_f1, auroc or detection.")
]
DEFAULT_STORE = "robustssl.sqlite"


@app.command()
def run(
    study: Annotated[str, typer.Argument(help="A study's name, or a YAML file.")],
    store: StoreOption = DEFAULT_STORE,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm", "-a", help="One more than the study has, such as my_module:Mine."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A part of the study: dataset=wine, algorithm=tsvm, environment=label."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", help="Processes; all cores by default.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run cells again that failed before.")
    ] = False,
    keep_predictions: Annotated[
        bool,
        typer.Option("--keep-predictions", help="Keep the test predictions, not only a digest."),
    ] = False,
    engine: Annotated[
        str, typer.Option(help="local: processes on this machine; ray: a Ray cluster.")
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="Of a running Ray cluster; without, one is started here.")
    ] = None,
    gpu_share: Annotated[
        float,
        typer.Option(help="The part of a GPU that a curve of nets takes; 0.25: four at once."),
    ] = 1.0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which a cell is ended, as failed.")
    ] = None,
    memory_limit: Annotated[
        float | None, typer.Option(help="Gigabytes beyond which a process gets none, as failed.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many cells and about how long; run none.")
    ] = False,
) -> None:
    """Run the cells of a study that the store lacks.

    Stop it whenever you like and run it again: it goes on where it was. `robustssl list studies`
    shows the named studies. A study of your own is a YAML file:

    \b
        algorithms: [supervised_logistic, self_training]
        environments: [label]
        datasets: [wine]
        labels: [5, 10]   # per class
        seeds: 5
    """
    from robustssl.execution import plan as plans
    from robustssl.execution import run as runs
    from robustssl.studies import study as studies

    asked = studies.with_algorithms(studies.narrowed(study, only or ()), algorithm or ())
    if dry_run:
        plan = plans.plan(asked, store, workers=workers, retry=retry)
        about = f", about {_duration(plan.seconds)} with {plan.workers} at a time"
        out.print(
            f"{plan.cells} cells: {plan.done} done, {plan.failed} failed, {plan.left} to run"
            f"{about if plan.left else ''}.",
            **PLAIN,
        )
        for problem in plan.problems:
            err.print(f"A cell that was tried failed: {problem}", **PLAIN)
        return
    how: Any = {"workers": workers, "retry": retry, "keep_predictions": keep_predictions}
    how |= {"engine": engine, "address": address, "gpu_share": gpu_share}
    how |= {"time_limit": time_limit, "memory_limit": memory_limit}
    try:
        result = runs.run(asked, store, **how)
    except KeyboardInterrupt:
        err.print("\nStopped. What is done is kept; the same command goes on from here.", **PLAIN)
        raise typer.Exit(130) from None
    _print_status(result)
    if result.failed:
        err.print("Run again with --retry to try the failed cells once more.", highlight=False)
        raise typer.Exit(1)


@app.command()
def status(
    study: Annotated[str | None, typer.Argument(help="Count its cells alone.")] = None,
    store: StoreOption = DEFAULT_STORE,
    logs: Annotated[
        bool, typer.Option("--logs", help="Show where in the code a cell of each reason failed.")
    ] = False,
) -> None:
    """Say what a store holds: cells done, failed (with the reasons), missing, stale, and how long
    the rest will take, in all and of each study that was run in it.
    """
    from robustssl.execution import status as states

    found = states.status(store, study)
    _print_status(found, study is not None)
    for title, part in found.studies:
        out.print(f"{_tame(title)}:\n  {_progress(part)}", **PLAIN)
    for log in found.logs.values() if logs else ():
        err.print(f"\n{_tame(log)}", **PLAIN)


@app.command()
def report(
    store: StoreOption = DEFAULT_STORE,
    folder: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")] = Path(
        "report"
    ),
    score: ScoreOption = "accuracy",
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

    how: Any = {"score": score, "sort": sort, "style": style, "published": published}
    files = reports.report(store, folder, **how)
    pictures = [f for f in files if f.suffix == ".png"]
    out.print("The numbers:", *(f for f in files if f.stem == "table"), **PLAIN)
    out.print("The pictures (also as .svg and .pdf):", *pictures, **PLAIN)


@app.command()
def site(
    folder: Annotated[Path, typer.Argument(help="The folder to write.")] = Path("site"),
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Build pages that open from disk: overview, leaderboard, explorer, methods and tasks.

    `--store` may also be a file or folder of exported records (jsonl, jsonl.gz).
    """
    from robustssl import sites

    out.print(f"Open {sites.site(store, folder)} in a browser.", **PLAIN)


@app.command()
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
        out.print(f"{server.url} (Ctrl-C ends it)", **PLAIN)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


@app.command()
def metrics(
    path: Annotated[str, typer.Argument(help="A file or folder of results, or a store.")],
    convention: Annotated[
        Convention,
        typer.Option(
            help="definition: exact integrals; published: as the published tables were computed; "
            "re-ssl: the five numbers of RE-SSL."
        ),
    ] = Convention.definition,
    format_: Annotated[Format, typer.Option("--format", "-f")] = Format.table,
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

    with _notes():
        table = metrics(path, convention, score=score, intervals=intervals)
    if format_ is Format.csv:
        table.to_csv(sys.stdout, index=False)
    elif format_ is Format.json:
        print(table.to_json(orient="records", indent=2))
    else:
        import pandas as pd
        from tabulate import tabulate

        from robustssl.analysis.table import show

        names = list(table.columns)
        task, rest = names[: names.index("algorithm")], names[names.index("algorithm") :]
        for values, rows in table.groupby(task, dropna=False, sort=False):
            known = {k: v for k, v in zip(task, values, strict=True) if not pd.isna(v)}
            out.print(", ".join(f"{k} {v}" for k, v in known.items()), **PLAIN)
            print(tabulate(rows[rest].map(show), headers="keys", **AS_IS), end="\n\n")


@app.command("list")
def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    format_: Annotated[Format, typer.Option("--format", "-f")] = Format.table,
) -> None:
    """List the algorithms, environments, datasets or studies there are."""
    from robustssl import registry
    from robustssl.studies.named import NAMED

    if kind is Kind.studies:
        rows: list[dict[str, Any]] = [{"name": n, "summary": s["title"]} for n, s in NAMED.items()]
    else:
        rows = registry.catalog(kind.removesuffix("s"))  # type: ignore[arg-type]
    if format_ is Format.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        row["presets"] = ", ".join(row.get("presets", ()))
        row["built for"] = ", ".join(row.get("targets", ()))
    told = ("name", "presets", "built for", "summary")
    columns = [name for name in told if any(row[name] for row in rows)]
    cells = [[row[name] for name in columns] for row in rows]
    if format_ is Format.csv:
        csv.writer(sys.stdout).writerows([columns, *cells])
    else:
        _print_table(columns, cells)


@app.command()
def export(
    file: Annotated[
        Path, typer.Argument(help="A .jsonl file (everything) or a .csv file (scores).")
    ],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write the records of a store to a file that others can import or open."""
    from robustssl.records import files as results

    count = results.export(store, file)
    out.print(f"{count} records in {file}", **PLAIN)


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="A .jsonl file that `export` wrote, or a .jsonl.gz.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Add exported records to a store. What the store holds already is never overwritten."""
    from robustssl.records import files as results

    _print_loaded(results.load(file, store))


def _print_loaded(loaded: Any) -> None:
    out.print(f"{loaded.added} records added, {loaded.known} known already", **PLAIN)
    if loaded.conflicts:
        err.print(f"{len(loaded.conflicts)} differ from the store's, which stay:", **PLAIN)
        for cell in loaded.conflicts[:10]:
            err.print(f"  {cell}", **PLAIN)
        raise typer.Exit(1)


store_app = typer.Typer(help="Stores: whether one is sound, and two made one.")
app.add_typer(store_app, name="store", no_args_is_help=True)


@store_app.command("check")
def store_check(store: StoreOption = DEFAULT_STORE) -> None:
    """Say whether a store is sound: the file, and that every record is whole and in its place."""
    from robustssl.records.store import Store

    with Store(store, create=False) as opened:
        problems, count = list(opened.problems()), len(opened)
    for problem in problems[:20]:
        err.print(problem, **PLAIN)
    out.print(f"{count} records, {len(problems) or 'no'} problems.", **PLAIN)
    if problems:
        raise typer.Exit(1)


@store_app.command("merge")
def store_merge(
    source: Annotated[str, typer.Argument(help="The store whose records are added.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Add the records of a store to another. What that holds already is never overwritten."""
    from robustssl.records import files as results

    _print_loaded(results.merge(source, store))


@app.command()
def submit(
    study: Annotated[str, typer.Argument(help="The study whose records are packed.")],
    store: StoreOption = DEFAULT_STORE,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where submissions lie.")] = Path(
        "results"
    ),
    name: Annotated[
        str | None, typer.Option(help="Of the submission; that of the study by default.")
    ] = None,
) -> None:
    """Pack the records of a study for others to check: study.yaml and records.jsonl.gz."""
    from robustssl.checks.submissions import submit

    place = submit(study, store, folder, name)
    out.print(f"{place}: check it with `robustssl results validate {place}`", **PLAIN)


results_app = typer.Typer(help="Submissions: whether one is sound.")
app.add_typer(results_app, name="results", no_args_is_help=True)


@results_app.command("validate")
def results_validate(
    folders: Annotated[list[Path], typer.Argument(help="Submissions.")],
    sample: Annotated[int, typer.Option(help="How many cells or curves to run again.")] = 10,
    seed: Annotated[int | None, typer.Option(help="Which; at random by default.")] = None,
) -> None:
    """Check submissions: whole, of the present code, on the right rows, and repeated here."""
    from robustssl.checks.submissions import validate

    broken = False
    for folder in folders:
        problems = validate(folder, sample, seed)
        broken |= bool(problems)
        for problem in problems[:20]:
            err.print(f"{folder}: {_tame(problem)}", **PLAIN)
        out.print(f"{folder}: {len(problems) or 'no'} problems", **PLAIN)
    if broken:
        raise typer.Exit(1)


@app.command()
def audit(
    labeled: Annotated[
        str, typer.Argument(help="A csv or Parquet file, or a folder of images, CLASS/file.")
    ],
    unlabeled: Annotated[
        str | None,
        typer.Argument(help="The same without labels; may be left out if some targets are empty."),
    ] = None,
    target: Annotated[
        str, typer.Option("--target", "-t", help="The column that holds the classes.")
    ] = "",
    text: Annotated[
        str | None, typer.Option(help="The column to learn from, if it holds texts.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out, such as an id or a date.")
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option("--algorithm", "-a", help="Try these methods; five quick ones by default."),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for the page and the model.")
    ] = Path("audit"),
) -> None:
    """Say of your own data whether the unlabeled rows are like the labeled ones, whether they would
    help or harm, and what to use. It takes a minute or two.
    """
    from robustssl import audits
    from robustssl.audits.audit import STEPS
    from robustssl.audits.gains import METHODS
    from robustssl.audits.page import check_folder, describe
    from robustssl.execution.progress import watch

    check_folder(folder)
    with watch(STEPS, err, "steps") as seen:
        found = audits.audit(
            *(labeled, unlabeled, target),
            text=text,
            drop=drop or (),
            algorithms=algorithm or METHODS,
            step=lambda: seen.step(False),
        )
    page = found.save(folder)
    out.print(_tame(describe(found, page)), **PLAIN)


AS_IS: Any = {"tablefmt": "plain", "showindex": False, "disable_numparse": True}


@app.command()
def check(
    name: Annotated[
        str, typer.Argument(help="An algorithm, environment or dataset, maybe your own.")
    ],
    dataset: Annotated[str, typer.Option(help="The dataset to check an environment on.")] = "wine",
) -> None:
    """Check that an algorithm, an environment or a dataset keeps its promises."""
    from robustssl import checks

    verdicts = {
        "algorithm": lambda: checks.check_algorithm(name),
        "environment": lambda: checks.check_environment(name, dataset),
        "dataset": lambda: checks.check_dataset(name),
    }[checks.kind_of(name)]()
    broken = 0
    for sentence, reason in verdicts:
        broken += reason is not None
        out.print(
            f"{'broken' if reason else 'holds':7} {sentence}" + (f": {reason}" if reason else ""),
            **PLAIN,
        )
    if broken:
        raise typer.Exit(1)


show_app = typer.Typer(help="What an algorithm is, or what an environment does, in a picture.")
app.add_typer(show_app, name="show", no_args_is_help=True)


@show_app.command("algorithm")
def show_algorithm(
    name: Annotated[str, typer.Argument(help="An algorithm, such as tsvm, maybe your own.")],
) -> None:
    """Say what an algorithm is: its formula, options, presets, budgets and baseline."""
    import inspect

    from robustssl import registry

    name, _ = parse(name)
    found = registry.algorithm(name)
    module = inspect.getmodule(found)
    shared = [
        base for base in found.__mro__[1:] if "fit_together" in vars(base) or "ratio" in vars(base)
    ]
    for thing in (module, found, *shared):
        out.print(inspect.getdoc(thing) or "", "", sep="\n", **PLAIN)
    options = registry.defaults("algorithm", name)
    out.print("options:  " + spell(name, options), **PLAIN)
    for preset, values in registry.presets(name).items():
        out.print(f"preset {preset}: " + spell(name, values), **PLAIN)
    for budget, values in getattr(found, "budgets", {}).items():
        out.print(f"budget {budget}: " + spell(name, values), **PLAIN)
    out.print(f"baseline: {getattr(found, 'baseline', None) or 'none'}", **PLAIN)
    if found_targets := sorted(getattr(found, "targets", ())):
        out.print(f"built for inconsistent: {', '.join(found_targets)}", **PLAIN)


@show_app.command("environment")
def show_environment(
    name: Annotated[str, typer.Argument(help="An environment, such as label or feature.")],
    dataset: Annotated[str, typer.Option(help="The dataset to show it on.")] = "wine",
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="The pictures, without their suffix.")
    ] = Path("environment"),
    labels: Annotated[int, typer.Option(help="Labels per class.")] = 5,
    seed: Annotated[int, typer.Option(help="The seed that draws the rows.")] = 0,
) -> None:
    """Draw what happens to the unlabeled data as t grows: at t = 0, 0.5 and 1."""
    from robustssl.pictures.environment import show

    out.print("The pictures:", *show(name, dataset, folder, labels, seed), **PLAIN)


data = typer.Typer(help="The datasets: which there are, fetching them, where they lie.")
app.add_typer(data, name="data", no_args_is_help=True)


@data.command("list")
def data_list() -> None:
    """List the datasets, and which of them are at hand."""
    from robustssl import registry
    from robustssl.downloads.cache import place

    def at_hand(name: str) -> str:
        if name in ("image_folder", "table"):
            return "yours"
        bundled = name in ("iris", "wine", "digits", "breast_cancer")
        return "yes" if bundled or place(name).is_dir() else "no"

    rows = registry.catalog("dataset")
    columns = ["name", "at hand", "summary"]
    _print_table(columns, [[r["name"], at_hand(r["name"]), r["summary"]] for r in rows])


@data.command("fetch")
def data_fetch(names: Annotated[list[str], typer.Argument(help="Names of datasets.")]) -> None:
    """Fetch datasets into the cache, unless they are there, and the encoders they name."""
    from robustssl import registry
    from robustssl.encoders.minilm import encode

    for name in names:
        dataset = registry.dataset(name)
        shape, classes = " x ".join(map(str, dataset.X.shape)), len(set(dataset.y.tolist()))
        owner, licence = (dataset.meta.get(key, "not stated") for key in ("owner", "licence"))
        out.print(f"{name}: {dataset.kind}, {shape}, {classes} classes", **PLAIN)
        out.print(f"  {owner}; licence: {licence}", **PLAIN)
        out.print(f"  sha256 {dataset.sha256}", **PLAIN)
        if dataset.meta.get("encoder", "tfidf") != "tfidf":
            encode(dataset.X[:1].tolist(), dataset.meta["encoder"])  # fetches the encoder too


@data.command("path")
def data_path(name: Annotated[str, typer.Argument(help="The name of a dataset.")]) -> None:
    """Say where a fetched dataset lies, or would lie."""
    from robustssl import registry
    from robustssl.downloads.cache import place

    plain, _ = parse(name)
    registry.find("dataset", plain)
    out.print(place(plain), **PLAIN)


PLAIN: Any = {"highlight": False, "markup": False, "soft_wrap": True}


def _print_status(status: Any, of_a_study: bool = True) -> None:
    out.print(_progress(status, of_a_study), **PLAIN)
    for reason, count in status.failures.items():
        err.print(f"  {count} failed: {_tame(reason)}", **PLAIN)


def _tame(text: str) -> str:
    """Text of a stranger's store, which must not steer the terminal."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", text)


def _progress(status: Any, of_a_study: bool = True) -> str:
    stale = f", {status.stale} stale (of another version)" if status.stale else ""
    left = f", about {_duration(status.left)} left" if status.missing and status.left else ""
    missing = f", {status.missing} missing" if of_a_study else ""
    return (
        f"{status.cells} cells: {status.done} done, {status.failed} failed{missing}{stale}; "
        f"{_duration(status.seconds)} of work done{left}."
    )


def _duration(seconds: float) -> str:
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds" if seconds >= 1.5 else "a second or less"


# Columns that give way to a narrow terminal, and how wide they are at most.
WRAPPED = {"summary": None, "presets": 10, "built for": 13}


def _print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table whose names are whole in a narrow terminal too."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        table.add_column(name, no_wrap=name not in WRAPPED, max_width=WRAPPED.get(name))
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table)
    out.print()


@contextmanager
def _notes() -> Iterator[None]:
    """Warnings as plain notes on the error stream."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            _print_notes(caught)


def _print_notes(caught: list[warnings.WarningMessage]) -> None:
    for message in dict.fromkeys(str(w.message) for w in caught):
        err.print(f"note: {message}", **PLAIN)


def main() -> None:
    """The console script: bad input is a sentence and exit code 2, never a traceback."""
    sys.path.append(str(Path.cwd()))  # where `module:object` may live
    try:
        app()
    except (InputError, OSError) as error:
        err.print(f"robustssl: {_tame(str(error))}", **PLAIN)
        sys.exit(2)
