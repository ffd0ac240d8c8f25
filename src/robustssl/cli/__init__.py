"""The command line: parses and calls, nothing else."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli import (
    audit,
    catalog,
    check,
    data,
    mcp,
    quickstart,
    report,
    results,
    run,
    show,
    site,
    store,
)
from robustssl.cli._print import warn
from robustssl.errors import InputError, bounded

app = typer.Typer(
    name="robustssl",
    help="Benchmark semi-supervised learning when unlabeled data are inconsistent with labeled "
    "data. To start, try `robustssl quickstart`.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.command()(quickstart.quickstart)
app.command()(run.run)
app.command()(run.status)
app.command()(report.report)
app.command()(report.choose)
app.command()(site.site)
app.command()(site.serve)
app.command()(report.metrics)
app.command("list")(catalog.list_)
app.command()(store.export)
app.command("import")(store.import_)
app.command()(results.submit)
app.command()(audit.audit)
app.command()(audit.decide)
app.command()(mcp.mcp)
app.command()(check.check)
app.add_typer(store.app, name="store")
app.add_typer(results.app, name="results")
app.add_typer(show.app, name="show")
app.add_typer(data.app, name="data")


def _version(asked: bool) -> None:
    if asked:
        from robustssl import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None: ...


def main() -> None:
    """The console script: invalid input prints one sentence and exits with code 2."""
    sys.path.append(str(Path.cwd()))  # so that `module:object` is found there
    try:
        app()
    except (InputError, OSError) as error:
        warn(f"robustssl: {bounded(str(error))}")
        sys.exit(2)
