"""Commands that ask whether unlabeled rows are worth using: of a user's data, and of a study."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from robustssl.cli._print import err, notes, say, warn

STATUS = {"yes": 0, "no": 3, "cannot tell": 4}


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
        list[str] | None, typer.Option(help="Column to ignore, such as an id; may be repeated.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Column of groups, such as patients, that stay together.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Column of times: models are tested on later rows.")
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm", "-a", help="Method to try; may be repeated. By default, quick ones."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="module:Class, your own model instead of those of the audit."),
    ] = None,
    score: Annotated[
        str, typer.Option(help="accuracy, balanced_accuracy, auroc or log_loss.")
    ] = "accuracy",
    shares: Annotated[
        Literal["labeled", "unlabeled"],
        typer.Option(help="Rows whose class shares the saved model expects."),
    ] = "labeled",
    encoder: Annotated[
        str,
        typer.Option(help="Encoder of images or texts; auto is efficientnet_lite0 or minilm."),
    ] = "auto",
    folder: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write the page and the model to.")
    ] = Path("audit"),
    label_next: Annotated[
        int, typer.Option(min=0, help="Write so many rows to label next to label_next.csv.")
    ] = 0,
    document: Annotated[
        Path | None,
        typer.Option("--json", help="File for what was found as JSON; - prints it instead."),
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 0 for yes, 3 for no, 4 for cannot tell.")
    ] = False,
) -> None:
    """Audit your own data: are the unlabeled rows worth using?

    Answers yes, no or cannot tell, and says with which model, how inconsistent the unlabeled rows
    are, and what they are worth in labels. It takes a minute or two.
    """
    from robustssl import audits
    from robustssl.audits.audit import STEPS
    from robustssl.audits.folder import check_folder
    from robustssl.audits.headline import short
    from robustssl.audits.learners import METHODS
    from robustssl.audits.terminal import describe
    from robustssl.progress import watch

    check_folder(folder, label_next)
    with watch(STEPS, err, "steps") as seen:
        found = audits.audit(
            *(labeled, unlabeled, target),
            text=text,
            drop=drop or (),
            group=group,
            time=time,
            algorithms=algorithm or METHODS,
            model=model,
            score=score,
            shares=shares,
            encoder=encoder,
            step=lambda: seen.step(False),
            tell=lambda verdict: warn(f"{short(verdict)}. The rest follows."),
        )
    page = found.save(folder, label_next)
    if document is not None:
        _write(found.to_dict(), document)
    if document != Path("-"):
        say(describe(found, page))
    if exit_code:
        raise typer.Exit(STATUS[found.verdict.answer])


def _write(found: dict[str, Any], path: Path) -> None:
    text = json.dumps(found, indent=1, allow_nan=False)
    if path == Path("-"):
        print(text)
    else:
        path.write_text(text + "\n", encoding="utf-8")


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
