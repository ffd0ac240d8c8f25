"""Commands that describe an algorithm, a dataset or an encoder, and draw an environment."""

from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli._print import say
from robustssl.method import Between, Shares
from robustssl.spec import parse, spell

app = typer.Typer(
    help="Describe algorithms, datasets and encoders; draw environments.",
    no_args_is_help=True,
)


@app.command()
def algorithm(
    name: Annotated[
        str,
        typer.Argument(help="Name of an algorithm, such as tsvm, or your own as module:object."),
    ],
) -> None:
    """Describe an algorithm.

    Prints its formula, options, presets, budgets and baseline.
    """
    from robustssl import registry

    name, _ = parse(name)
    found = registry.about("algorithm", name)
    say("\n\n".join(filter(None, (found.text, found.shared_text))) + "\n")
    say("options:  " + spell(name, found.options))
    for preset, (source, values) in found.presets.items():
        say(f"preset {preset}: {spell(name, values)} (from {source})")
    for budget, values in (found.budgets or {}).items():
        say(f"budget {budget}: " + spell(name, values))
    for option, searched in found.space.items():
        listed = not isinstance(searched, Between | Shares)
        say(f"search {option}: {', '.join(map(str, searched)) if listed else searched}")
    say(f"baseline: {registry.matched_baseline(name) or 'none'}")
    for kind, place in found.targets.items():
        say(f"claims: {kind} ({place})")


@app.command()
def dataset(
    name: Annotated[
        str,
        typer.Argument(help="Name of a dataset, such as adult, or your own as module:object."),
    ],
) -> None:
    """Describe a dataset, with its options; nothing is downloaded."""
    from robustssl import registry

    name, _ = parse(name)
    found = registry.about("dataset", name)
    say(found.text + "\n")
    say("options: " + spell(name, found.options))


@app.command()
def encoder(
    name: Annotated[
        str,
        typer.Argument(help="Name of an encoder, such as resnet50, or your own as module:object."),
    ],
) -> None:
    """Describe an encoder of images or texts, with its options."""
    from robustssl import registry

    name, _ = parse(name)
    found = registry.about("encoder", name)
    say("\n\n".join(filter(None, (found.text, found.shared_text))) + "\n")
    say("options: " + spell(name, found.options))
    say(f"encodes: {found.data}")


@app.command()
def environment(
    name: Annotated[str, typer.Argument(help="Name of an environment, such as label or feature.")],
    dataset: Annotated[str, typer.Option(help="Dataset to draw.")] = "wine",
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Path of the pictures, without suffix.")
    ] = Path("environment"),
    labels: Annotated[int, typer.Option(help="Number of labels per class.")] = 5,
    seed: Annotated[int, typer.Option(help="Random seed that selects the rows.")] = 0,
) -> None:
    """Draw how an environment changes the unlabeled data.

    The pictures show t = 0 (consistent), 0.5 and 1 (inconsistent).
    """
    from robustssl.pictures.environment import show

    say("Pictures:", *show(name, dataset, folder, labels, seed))


@app.command()
def tasks(
    studies: Annotated[list[str], typer.Argument(help="Names of studies, or YAML files.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder of the pictures.")] = Path(
        "pictures"
    ),
) -> None:
    """Draw what t does to the rows of each task of studies.

    Images and texts whose licence does not allow to show them are drawn as points. The pages of a
    site show the pictures that are kept with robustssl.
    """
    from robustssl.pictures.tasks import draw_tasks

    for place in draw_tasks(studies, folder):
        say(place)
