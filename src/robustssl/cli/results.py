"""Commands that make and check submissions of results."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli._options import DEFAULT_STORE, StoreOption, TrustOption
from robustssl.cli._print import say, warn

app = typer.Typer(help="Check submissions of results.", no_args_is_help=True)


def submit(
    study: Annotated[str, typer.Argument(help="Name of a built-in study, or a YAML file.")],
    store: StoreOption = DEFAULT_STORE,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder of submissions.")] = Path(
        "results"
    ),
    name: Annotated[
        str | None, typer.Option(help="Name of the submission; by default, that of the study.")
    ] = None,
) -> None:
    """Pack the records of a study so that others can check them.

    The folder holds study.yaml and records.jsonl.gz, and copies of the modules and data files of
    your own that the study names. Every cell must have succeeded.
    """
    from robustssl.checks.submissions import submit
    from robustssl.studies.files import read_study

    place = submit(study, store, folder, name)
    said = read_study(place / "study.yaml")
    trust = "".join(f" --trust {module}" for module in said.get("trust", ()))
    say(f"Wrote {place}. To check it, run `robustssl results validate {place}{trust}`.")
    if carries := said.get("carries"):
        say(f"It carries {', '.join(carries)}; modules that these import must be installed.")
    if lacks := said.get("lacks"):
        warn(f"It does not carry {', '.join(lacks)}: others need it to run the study again.")


@app.command()
def validate(
    folders: Annotated[list[Path], typer.Argument(help="Folders of submissions.")],
    sample: Annotated[
        int, typer.Option(help="Number of cells to run again; for nets, number of curves.")
    ] = 10,
    seed: Annotated[int | None, typer.Option(help="Random seed of the sample.")] = None,
    trust: TrustOption = None,
) -> None:
    """Check submissions, and run a sample of their cells again.

    A submission must be complete, come from the current version of the code, have used the right
    rows, and repeat its scores in the cells that are run again. A frozen one may come from an older
    version; only its cells of the current version are run again. Code that a submission carries
    is never run unless you name its module with --trust.
    """
    from robustssl.checks.validation import validate

    if trust:
        warn(f"warning: the code of {', '.join(trust)} is run on this machine, as you.")
    broken = False
    for folder in folders:
        problems = validate(folder, sample, seed, partial(say, f"{folder}:"), trust or ())
        broken |= bool(problems)
        for problem in problems[:20]:
            warn(f"{folder}: {problem}")
        say(f"{folder}: {len(problems) or 'no'} problems")
    if broken:
        raise typer.Exit(1)


@app.command()
def freeze(
    folders: Annotated[list[Path], typer.Argument(help="Folders of submissions.")],
    commit: Annotated[
        str | None, typer.Option(help="Commit that made the records; by default, the current one.")
    ] = None,
    trust: TrustOption = None,
) -> None:
    """Freeze submissions before the code changes.

    Writes the commit and the list of cells into study.yaml, so that the submission stays valid when
    later versions of the code would make other numbers.
    """
    from robustssl.checks.validation import freeze

    for folder in folders:
        freeze(folder, commit, trust or ())
        say(f"{folder}: frozen")
