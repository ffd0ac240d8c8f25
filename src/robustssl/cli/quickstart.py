"""The command to begin with: a small study, its report and its pages."""

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli.report import report
from robustssl.cli.run import run
from robustssl.cli.site import site

STORE, REPORT, SITE = "quickstart.sqlite", Path("quickstart-report"), Path("quickstart-site")


def quickstart(
    open_page: Annotated[
        bool,
        typer.Option("--open/--no-open", help="Open the pages in a browser when they are done."),
    ] = True,
) -> None:
    """Run a small study and show its results.

    Runs 2,160 small trainings in a few minutes, then writes tables and figures to quickstart-report
    and pages to quickstart-site, and opens these. Nothing is opened where nobody watches a
    terminal. You can stop it at any time; the same command continues it.
    """
    run("quickstart", STORE)
    report(STORE, REPORT)
    site(SITE, STORE)
    if open_page and _is_watched():
        webbrowser.open((SITE / "index.html").absolute().as_uri())


def _is_watched() -> bool:
    """Whether somebody sits at a terminal, as nobody does where tests are run."""
    return sys.stdout.isatty()
