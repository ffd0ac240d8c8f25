"""The audit of a user's own data."""

from pathlib import Path
from typing import Annotated

import typer

from robustssl.cli._print import err, say


def audit(
    labeled: Annotated[
        str, typer.Argument(help="A csv or Parquet file, or a folder of images, CLASS/file.")
    ],
    unlabeled: Annotated[
        str | None,
        typer.Argument(help="The same without labels; may be left out if some targets are empty."),
    ] = None,
    target: Annotated[
        str, typer.Option("--target", "-t", help="The column that holds the classes.")
    ] = "",
    text: Annotated[
        str | None, typer.Option(help="The column to learn from, if it holds texts.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out, such as an id or a date.")
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option("--algorithm", "-a", help="Try these methods; five quick ones by default."),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for the page and the model.")
    ] = Path("audit"),
) -> None:
    """Say of your own data whether the unlabeled rows are like the labeled ones, whether they would
    help or harm, and what to use. It takes a minute or two.
    """
    from robustssl import audits
    from robustssl.audits.gains import METHODS
    from robustssl.audits.page import check_folder, describe, write_audit
    from robustssl.execution.progress import watch

    check_folder(folder)
    with watch(audits.STEPS, err, "steps") as seen:
        found = audits.audit(
            *(labeled, unlabeled, target),
            text=text,
            drop=drop or (),
            algorithms=algorithm or METHODS,
            step=lambda: seen.step(False),
        )
    page = write_audit(found, folder)
    say(describe(found, page))
