"""Commands that export, import, check and merge stores."""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustssl.cli._options import DEFAULT_STORE, StoreOption
from robustssl.cli._print import say, warn

app = typer.Typer(help="Check a store, or merge two.", no_args_is_help=True)


def export(
    file: Annotated[
        Path, typer.Argument(help="File to write: .jsonl (whole records) or .csv (scores only).")
    ],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write the records of a store to a file."""
    from robustssl.records import files as results

    count = results.export(store, file)
    say(f"{count} records written to {file}")


def import_(
    file: Annotated[
        str, typer.Argument(help="File written by `robustssl export`: .jsonl or .jsonl.gz.")
    ],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Add exported records to a store. Records already there are never overwritten."""
    from robustssl.records import files as results

    _print_loaded(results.load(file, store))


@app.command()
def check(store: StoreOption = DEFAULT_STORE) -> None:
    """Check that a store is intact.

    Checks the database file, that every record can be read, that its key matches its cell, and that
    it is as it was written.
    """
    from robustssl.records.store import Store

    with Store(store, create=False) as opened:
        problems, count, old = list(opened.problems()), len(opened), opened.without_digest()
    for problem in problems[:20]:
        warn(problem)
    say(f"{count} records, {len(problems) or 'no'} problems.")
    if old:
        say(f"{old} records of version 0.1 have no digest: whether they were altered is unknown.")
    if problems:
        raise typer.Exit(1)


@app.command()
def merge(
    source: Annotated[str, typer.Argument(help="Store to read the records from.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Add the records of another store to a store. Records already there are never overwritten."""
    from robustssl.records import files as results

    _print_loaded(results.merge(source, store))


def _print_loaded(loaded: Any) -> None:
    say(f"{loaded.added} records added, {loaded.known} already there")
    if loaded.conflicts:
        warn(f"{len(loaded.conflicts)} records differ from those in the store, which are kept:")
        for cell in loaded.conflicts[:10]:
            warn(f"  {cell}")
        raise typer.Exit(1)
