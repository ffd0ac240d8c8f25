"""The report of records: a folder with a table (markdown, csv, JSON, LaTeX) and figures."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from robustssl.analysis.curves import KeyedCurve, curves
from robustssl.analysis.table import study_table
from robustssl.errors import InputError, unknown
from robustssl.records.files import read_frame
from robustssl.records.frame import failures, part, scored, successes, with_versions
from robustssl.records.places import shown
from robustssl.records.results import read
from robustssl.records.sheets import csv_of
from robustssl.reports.curve_figures import draw_curves, draw_gains
from robustssl.reports.latex import latex_of
from robustssl.reports.markdown import METRICS, beside_reported, page_of
from robustssl.reports.style import save
from robustssl.reports.style import style as in_style
from robustssl.reports.table_figures import draw_cost, draw_map, draw_metrics, draw_ranks

MANY_TASKS = 24  # that figures with a panel for each have at most


def report(
    store: str | Path = "robustssl.sqlite",
    out: str | Path = "report",
    *,
    score: str = "accuracy",
    sort: str = "AUC",
    style: str | Path | None = None,
    published: str | Path | None = None,
    only: Sequence[str] = (),
) -> list[Path]:
    """Write the report of a store, or of a file or folder of records, into a folder; returns the
    files written.

    `only` takes a part of the records, by words such as dataset=wine. Figures with a panel for each
    task are left out, with a note, where there are too many. Rows are sorted by a metric. `style`
    is a style file of matplotlib that goes over the project's; `published` a file or folder of
    reported results to lay beside the measured ones.
    """
    frame = with_versions(part(read_frame(store), only))
    good = successes(frame)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found = curves(scored(good, score))
        if not found:
            raise InputError(
                f"{shown(store)} holds no scores to report; `robustssl status` tells why"
            )
        table = _sorted(study_table(found), sort)
        reported = beside_reported(table, read(published)) if published else pd.DataFrame()
    detected = _detection_curves(good) if score != "detection" else []
    notes = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    tasks = len({curve.task for curve in found})
    if tasks > MANY_TASKS:
        notes.append(
            f"no figures of single tasks, since {tasks} do not fit into one: `--only dataset=NAME` "
            "takes some, and `robustssl site` shows all"
        )
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page = page_of(table, detected, [*notes, *_omissions(frame)], score, reported)
        files = {
            "table.md": page,
            "table.csv": csv_of(table),
            "table.json": table.to_json(orient="records", indent=1),
            "table.tex": latex_of(table),
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        with in_style(style):
            few = tasks <= MANY_TASKS
            pictures = _draw(folder, table, found, detected if few else [], score, few)
    except OSError as error:
        raise InputError(f"cannot write the report to {folder}: {error.strerror}") from error
    return [*(folder / name for name in files), *pictures]


def _draw(
    folder: Path,
    table: pd.DataFrame,
    found: Sequence[KeyedCurve],
    detected: Sequence[KeyedCurve],
    score: str,
    of_tasks: bool,
) -> list[Path]:
    seconds = pd.DataFrame([(c.name, c.seconds) for c in found]).groupby(0)[1].mean().to_dict()
    drawn = {
        "rac": draw_curves([c for c in found if c.is_whole], score) if of_tasks else None,
        "gain": draw_gains(found) if of_tasks else None,
        "metrics": draw_metrics(table) if of_tasks else None,
        "ranks": draw_ranks(table),
        "map": draw_map(table),
        "cost": draw_cost(table, seconds),
        "detection": draw_curves(detected, "detection") if detected else None,
    }
    return [
        file
        for name, figure in drawn.items()
        if figure is not None
        for file in save(figure, folder / name)
    ]


def _sorted(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Best first: the least of what tells of movement, the most of everything else."""
    known = [*METRICS, "Acc0", "gain"]
    if by not in known:
        raise unknown("metric to sort by", by, known)
    return table.sort_values(by, ascending=by in ("EVM", "VS"), kind="stable")


def _detection_curves(good: pd.DataFrame) -> list[KeyedCurve]:
    """How well each method tells inconsistent rows, where it says so and there are some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of learners that do not say so
        return [curve for curve in curves(scored(good, "detection")) if curve.is_whole]


def _omissions(frame: pd.DataFrame) -> list[str]:
    """What the tables do not show, in a sentence each."""
    good = successes(frame)
    left = int((~frame.counts & frame.error.isna()).sum())
    said = f"{left} records are left out: newer versions of their curves are here"
    notes = [said] if left else []
    for name, rows in good[good.older].groupby("method"):
        notes.append(f"{len(rows)} records of {name} are of an older version of its code or data")
    for (name, reason), rows in failures(frame).groupby(["method", "error"]):
        notes.append(f"{len(rows)} failed cells of {name}: {reason}")
    warned = good.explode("warnings").dropna(subset="warnings")
    for warning, rows in warned.groupby("warnings"):
        methods = ", ".join(sorted(rows.method.unique()))
        notes.append(f"{len(rows)} cells of {methods} warned: {warning}")
    return notes
