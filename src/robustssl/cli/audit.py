"""The command that audits a user's own data."""

from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli._print import err, say


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
            "--algorithm", "-a", help="Method to try; may be repeated. By default, three quick ones."
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
    from robustssl.audits.learners import METHODS
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
