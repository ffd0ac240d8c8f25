"""The command that checks the contract of an algorithm, an environment or a dataset."""

from typing import Annotated

import typer

from robustssl.cli._print import notes, say


def check(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of an algorithm, environment or dataset, or your own as module:object."
        ),
    ],
    dataset: Annotated[
        str, typer.Option(help="Dataset on which to check an environment.")
    ] = "wine",
) -> None:
    """Check the contract of an algorithm, environment or dataset."""
    from robustssl import checks

    verdicts = {
        "algorithm": lambda: checks.check_algorithm(name),
        "environment": lambda: checks.check_environment(name, dataset),
        "dataset": lambda: checks.check_dataset(name),
    }[checks.kind_of(name)]()
    broken = False
    with notes():
        for sentence, reason in verdicts:
            broken |= reason is not None
            say(f"broken  {sentence}: {reason}" if reason else f"holds   {sentence}")
    if broken:
        raise typer.Exit(1)
