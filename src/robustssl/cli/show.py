"""An algorithm in words, an environment in a picture."""

import inspect
from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli._print import say
from robustssl.spec import parse, spell

app = typer.Typer(
    help="What an algorithm is, or what an environment does, in a picture.", no_args_is_help=True
)


@app.command()
def algorithm(
    name: Annotated[str, typer.Argument(help="An algorithm, such as tsvm, maybe your own.")],
) -> None:
    """Say what an algorithm is: its formula, options, presets, budgets and baseline."""
    from robustssl import registry

    name, _ = parse(name)
    found = registry.algorithm(name)
    module = inspect.getmodule(found)
    shared = [
        base for base in found.__mro__[1:] if "fit_together" in vars(base) or "ratio" in vars(base)
    ]
    for thing in (module, found, *shared):
        say(f"{inspect.getdoc(thing) or ''}\n")
    say("options:  " + spell(name, registry.defaults("algorithm", name)))
    for preset, values in registry.presets(name).items():
        say(f"preset {preset}: " + spell(name, values))
    for budget, values in getattr(found, "budgets", {}).items():
        say(f"budget {budget}: " + spell(name, values))
    say(f"baseline: {getattr(found, 'baseline', None) or 'none'}")
    if targets := sorted(getattr(found, "targets", ())):
        say(f"built for inconsistent: {', '.join(targets)}")


@app.command()
def environment(
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

    say("The pictures:", *show(name, dataset, folder, labels, seed))
