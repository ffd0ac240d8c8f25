"""Stores: exported, imported, checked and merged."""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustssl.cli._options import DEFAULT_STORE, StoreOption
from robustssl.cli._print import say, warn

app = typer.Typer(help="Stores: whether one is sound, and two made one.", no_args_is_help=True)


def export(
    file: Annotated[
        Path, typer.Argument(help="A .jsonl file (everything) or a .csv file (scores).")
    ],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write the records of a store to a file that others can import or open."""
    from robustssl.records import files as results

    count = results.export(store, file)
    say(f"{count} records in {file}")


def import_(
    file: Annotated[str, typer.Argument(help="A .jsonl file that `export` wrote, or a .jsonl.gz.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Add exported records to a store. What the store holds already is never overwritten."""
    from robustssl.records import files as results

    _print_loaded(results.load(file, store))


@app.command()
def check(store: StoreOption = DEFAULT_STORE) -> None:
    """Say whether a store is sound: the file, and that every record is whole and in its place."""
    from robustssl.records.store import Store

    with Store(store, create=False) as opened:
        problems, count = list(opened.problems()), len(opened)
    for problem in problems[:20]:
        warn(problem)
    say(f"{count} records, {len(problems) or 'no'} problems.")
    if problems:
        raise typer.Exit(1)


@app.command()
def merge(
    source: Annotated[str, typer.Argument(help="The store whose records are added.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Add the records of a store to another. What that holds already is never overwritten."""
    from robustssl.records import files as results

    _print_loaded(results.merge(source, store))


def _print_loaded(loaded: Any) -> None:
    say(f"{loaded.added} records added, {loaded.known} known already")
    if loaded.conflicts:
        warn(f"{len(loaded.conflicts)} differ from the store's, which stay:")
        for cell in loaded.conflicts[:10]:
            warn(f"  {cell}")
        raise typer.Exit(1)
