"""The folder of an audit: its page, its rows, its model, and the same for machines."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from robustssl.audits.audit import Audit
from robustssl.audits.document import document
from robustssl.audits.labeling import label_next
from robustssl.audits.model_file import save_model
from robustssl.audits.page import MARK, render
from robustssl.errors import InputError

PAGE, ROWS, MODEL = "index.html", "rows.csv", "model.skops"
DOCUMENT, LABEL_NEXT = "audit.json", "label_next.csv"
FILES = {
    "page": PAGE,
    "inconsistent rows": ROWS,
    "model": MODEL,
    "for machines": DOCUMENT,
    "rows to label next": LABEL_NEXT,
}


def write_audit(audit: Audit, folder: str | Path, label: int = 0) -> Path:
    """Write the files; return the path of the page. label: how many rows to label next, in a file
    of their own.
    """
    check_folder(folder, label)
    folder = Path(folder)
    page = render(audit, ROWS, MODEL, LABEL_NEXT if label else "")
    text = json.dumps(document(audit), indent=1, allow_nan=False)
    try:
        (folder / PAGE).write_text(page, encoding="utf-8")
        inconsistent_rows(audit).to_csv(folder / ROWS, index=False)
        save_model(audit.model, folder / MODEL)
        (folder / DOCUMENT).write_text(text + "\n", encoding="utf-8")
        if label:
            label_next(audit, label).to_csv(folder / LABEL_NEXT, index=False)
    except OSError as error:
        raise InputError(f"cannot write the audit to {folder}: {error.strerror}") from error
    return folder / PAGE


def check_folder(folder: str | Path, label: int = 0) -> None:
    """Make the folder; refuse one whose files are not those of an audit, or hold labels."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [name for name in FILES.values() if (folder / name).exists()]
        page = (folder / PAGE).read_text("utf-8", "replace") if PAGE in there else ""
    except OSError as error:
        raise InputError(f"cannot write the audit to {folder}: {error.strerror}") from error
    if there and MARK not in page:
        raise InputError(
            f"{folder} holds a file {there[0]} that is not from an audit: choose another folder"
        )
    if label and LABEL_NEXT in there:
        raise InputError(
            f"{folder / LABEL_NEXT} may hold labels of yours: choose another folder, or move it"
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
