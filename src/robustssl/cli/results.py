"""Submissions: packed and checked."""

from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli._options import DEFAULT_STORE, StoreOption
from robustssl.cli._print import say, warn

app = typer.Typer(help="Submissions: whether one is sound.", no_args_is_help=True)


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
    say(f"{place}: check it with `robustssl results validate {place}`")


@app.command()
def validate(
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
            warn(f"{folder}: {problem}")
        say(f"{folder}: {len(problems) or 'no'} problems")
    if broken:
        raise typer.Exit(1)
