"""Commands that ask whether unlabeled rows are worth using: of a user's data, and of a study."""

from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli._print import err, notes, say


def audit(
    labeled: Annotated[
        str, typer.Argument(help="CSV or Parquet file, or folder of images (CLASS/file).")
    ],
    unlabeled: Annotated[
        str | None,
        typer.Argument(
            help="The same without labels; by default, the labeled rows whose target is empty."
        ),
    ] = None,
    target: Annotated[str, typer.Option("--target", "-t", help="Column of the classes.")] = "",
    text: Annotated[str | None, typer.Option(help="Column of texts to learn from.")] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Column to ignore, such as an id or a date; may be repeated."),
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm", "-a", help="Method to try; may be repeated. By default, five quick ones."
        ),
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(help="Encoder of images or texts; auto is efficientnet_lite0 or minilm."),
    ] = "auto",
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write the page and the model to.")
    ] = Path("audit"),
) -> None:
    """Audit your own data: are the unlabeled rows worth using?

    Estimates how inconsistent the unlabeled rows are with the labeled ones and whether they would
    help or harm, and recommends a method. It takes a minute or two.
    """
    from robustssl import audits
    from robustssl.audits.audit import STEPS
    from robustssl.audits.gains import METHODS
    from robustssl.audits.page import check_folder, describe
    from robustssl.progress import watch

    check_folder(folder)
    with watch(STEPS, err, "steps") as seen:
        found = audits.audit(
            *(labeled, unlabeled, target),
            text=text,
            drop=drop or (),
            algorithms=algorithm or METHODS,
            encoder=encoder,
            step=lambda: seen.step(False),
        )
    page = found.save(folder)
    say(describe(found, page))


def decide(
    study: Annotated[str, typer.Argument(help="Name of a built-in study, or a YAML file.")],
    file: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path(
        "decisions.csv"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(help="Decide on a part of the study, such as dataset=wine; repeatable."),
    ] = None,
    t: Annotated[
        list[float] | None,
        typer.Option(help="Decide at this t; repeatable. By default at three t of the study."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="With how many seeds of the study.")] = 2,
) -> None:
    """Decide whether to use the unlabeled rows of a study's tables.

    An audit decides, and adversarial validation, from labeled and unlabeled rows alone. `robustssl
    report --decisions` tells what they lose. An audit takes up to a minute or two; you can stop at
    any time, and the same command continues. It imports the modules that the study names.
    """
    from robustssl import audits
    from robustssl.studies.changes import narrowed

    with notes():
        made = audits.decide(narrowed(study, only or ()), file, ts=t or (), seeds=seeds)
    for name, mine in made.groupby("entrant", sort=False):
        say(f"{name}: use the rows in {mine.use.sum()} of {len(mine)} cases")
    say(f"Written to {file}. Next: `robustssl report --store STORE --decisions {file}`.")
