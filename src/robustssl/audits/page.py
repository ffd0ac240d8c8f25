"""How an audit is laid out: as a page, and as text in the terminal."""

import textwrap
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from tabulate import tabulate

from robustssl.audits import advice
from robustssl.audits.audit import Audit
from robustssl.audits.evidence import evidence_of
from robustssl.audits.figure import draw_gains, svg
from robustssl.audits.gains import Gains
from robustssl.audits.model_file import save_model
from robustssl.audits.resampling import difference
from robustssl.errors import InputError

PAGE, ROWS, MODEL = "index.html", "rows.csv", "model.skops"
MARK = "<title>Audit · robustssl</title>"  # of a page that may be replaced


def write_audit(audit: Audit, folder: str | Path) -> Path:
    """Write the page, the rows and the model into a folder; return the path of the page."""
    check_folder(folder)
    folder = Path(folder)
    try:
        (folder / PAGE).write_text(_render(audit), encoding="utf-8")
        inconsistent_rows(audit).to_csv(folder / ROWS, index=False)
        save_model(audit.model, folder / MODEL)
    except OSError as error:
        raise InputError(f"cannot write the audit to {folder}: {error.strerror}") from error
    return folder / PAGE


def check_folder(folder: str | Path) -> None:
    """Make the folder; refuse one whose files are not those of an audit."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [name for name in (PAGE, ROWS, MODEL) if (folder / name).exists()]
        page = (folder / PAGE).read_text("utf-8", "replace") if PAGE in there else ""
    except OSError as error:
        raise InputError(f"cannot write the audit to {folder}: {error.strerror}") from error
    if there and MARK not in page:
        raise InputError(
            f"{folder} holds a file {there[0]} that is not from an audit: choose another folder"
        )


def inconsistent_rows(audit: Audit) -> pd.DataFrame:
    """All unlabeled rows, numbered from 0, with the probability that each is inconsistent; the
    highest first. It is missing for images and texts that were not examined.
    """
    found, probability = audit.inconsistency.mixture, np.full(audit.unlabeled, np.nan)
    if found is not None:
        examined = len(found.inconsistent) < audit.unlabeled
        probability[audit.pair.rows if examined else slice(None)] = found.inconsistent
    frame = pd.DataFrame({"row": np.arange(audit.unlabeled), "inconsistent": probability.round(3)})
    return frame.sort_values("inconsistent", ascending=False, kind="stable")


def describe(audit: Audit, page: Path, width: int = 80) -> str:
    """The audit as plain text, with the files that lie beside the page."""
    said = _contents(audit)

    def wrap(*texts: str) -> list[str]:
        return [
            textwrap.indent(textwrap.fill(text, width - 2, break_on_hyphens=False), "  ")
            for text in texts
            if text
        ]

    def table(rows: list[list[str]], *headers: str) -> list[str]:
        made = tabulate(rows, headers, tablefmt="plain", disable_numparse=True)
        return [textwrap.indent(made, "  ")] if rows else []

    shares = [[row["kind"], row["text"], row["meaning"]] for row in said["shares"]]
    shown = ("name", "score", "gain")
    gains = [[row[name] for name in shown] for row in said["gains"]]
    telling, lost = [[*row] for row in said["telling"]], [f"{n} ({how})" for n, how in said["lost"]]
    return "\n".join(
        [
            textwrap.fill(" ".join([said["size"], *said["notes"]]), width),
            "",
            advice.HOW_INCONSISTENT,
            *table(shares, "kind", f"t [{advice.INTERVAL}]", ""),
            *wrap(said["auroc"], said["classes"]),
            *wrap(said["how_telling"] if telling else ""),
            *table(telling, "", "labeled rows", "unlabeled rows"),
            *wrap(f"{advice.LOST} {', '.join(lost)}." if lost else ""),
            "",
            advice.HELP_OR_HARM,
            *table(gains, "learner", audit.gains.score, f"gain [{advice.INTERVAL}]"),
            *wrap(advice.MEASURED, *said["failed"]),
            "",
            advice.WHAT_TO_USE,
            *wrap(said["advice"], said["caveat"]),
            "",
            f"Page with figures: {page}",
            f"Inconsistent rows: {page.parent / ROWS}",
            "Model:",
            textwrap.indent(advice.loading(audit.pair.kind, str(page.parent / MODEL)), "  "),
        ]
    )


def _contents(audit: Audit) -> dict[str, Any]:
    """Sentences, and rows of tables, by their place."""
    failed = audit.gains.failed.items()
    return {
        "size": advice.size(audit),
        "notes": audit.pair.notes,
        "advice": audit.advice.text,
        "caveat": advice.caveat(audit),
        "shares": [_share(audit, kind) for kind in advice.KINDS],
        "auroc": advice.auroc(audit),
        "classes": advice.classes(audit),
        "telling": audit.inconsistency.telling,
        "how_telling": advice.TELLING.get(audit.pair.kind, ""),
        "lost": [(column.name, column.problem) for column in audit.inconsistency.columns],
        "gains": _gains(audit.gains),
        "failed": [advice.FAILED.format(name=name, error=error) for name, error in failed],
        "keeping": advice.keeping(audit.keeping),
        "use": advice.use(audit),
    }


def _share(audit: Audit, kind: str) -> dict[str, Any]:
    t = getattr(audit.inconsistency, kind)
    known = not np.isnan(t.estimate)
    text = f"{t:.2f}" if known else "n/a"
    return {
        "kind": kind,
        "t": t,
        "text": text,
        "known": known,
        "meaning": advice.meaning(audit, kind),
    }


def _gains(gains: Gains) -> list[dict[str, str]]:
    """Each learner with its score; and the gain of each that uses unlabeled rows, as measured."""
    rows = []
    for name in sorted(gains.held, key=lambda name: -gains.mean(name)):
        told = ""
        if name in gains.methods:
            found = evidence_of(gains, name, 0.5)
            told = f"{difference(found.gain, found.error, found.labels):+.3f}"
        rows.append({"name": name, "score": f"{gains.mean(name):.3f}", "gain": told})
    return rows


def _render(audit: Audit) -> str:
    environment = Environment(
        loader=PackageLoader("robustssl.audits", "templates"),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template("audit.html").render(
        **_contents(audit),
        words=advice,
        mark=MARK,
        css=files("robustssl.sites").joinpath("static", "style.css").read_text("utf-8"),
        figure=svg(draw_gains(audit)),
        loading=advice.loading(audit.pair.kind, MODEL),
        rows_file=ROWS,
        version=metadata.version("robustssl"),
    )
