"""The contracts of algorithms, environments and datasets."""

from typing import Annotated

import typer

from robustssl.cli._print import say


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
    broken = False
    for sentence, reason in verdicts:
        broken |= reason is not None
        say(f"broken  {sentence}: {reason}" if reason else f"holds   {sentence}")
    if broken:
        raise typer.Exit(1)
