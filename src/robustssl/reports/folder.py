"""The report of a store: a folder with a table (markdown, csv, JSON, LaTeX) and figures."""

import html
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from robustssl.analysis.table import (
    TASK,
    metric_table,
    show,
    show_interval,
    study_table,
    task_name,
)
from robustssl.errors import InputError, unknown
from robustssl.records.files import KEYS, KeyedCurve, curves, read, tidy
from robustssl.records.store import Store, failures, shown
from robustssl.reports import style as looks
from robustssl.reports.figures import (
    METRICS,
    draw_cost,
    draw_curves,
    draw_gains,
    draw_map,
    draw_metrics,
    draw_ranks,
    save,
)
from robustssl.spec import parse


def report(
    store: str | Path = "robustssl.sqlite",
    out: str | Path = "report",
    *,
    score: str = "accuracy",
    sort: str = "AUC",
    style: str | Path | None = None,
    published: str | Path | None = None,
) -> list[Path]:
    """Write the report of a store into a folder; returns the files written.

    Rows are sorted by a metric. `style` is a style file of matplotlib that goes over the
    project's; `published` a file or folder of reported results to lay beside the measured ones.
    """
    with Store(store, create=False) as opened:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            frame, everything = tidy(opened, score), opened.frame()
        detected = _detection_curves(opened) if score != "detection" else []
    if frame.empty:
        raise InputError(f"{shown(store)} holds no scores to report; `robustssl status` tells why")
    with warnings.catch_warnings(record=True) as more:
        warnings.simplefilter("always", UserWarning)
        found = curves(frame)
        table = _sorted(study_table(found), sort)
        reported = _published(table, read(published)) if published else pd.DataFrame()
    notes = [str(w.message) for w in (*caught, *more) if issubclass(w.category, UserWarning)]
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page = _page(table, detected, [*notes, *_omissions(everything)], score, reported)
        files = {
            "table.md": page,
            "table.csv": table.to_csv(index=False),
            "table.json": table.to_json(orient="records", indent=1),
            "table.tex": _latex(table),
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        seconds = frame.groupby("algorithm").seconds.mean().to_dict()
        with looks.style(style):
            figures = {
                "rac": draw_curves(_whole(found), score),
                "gain": draw_gains(found),
                "metrics": draw_metrics(table),
                "ranks": draw_ranks(table),
                "map": draw_map(table),
                "cost": draw_cost(table, seconds),
                "detection": draw_curves(detected, "detection") if detected else None,
            }
            pictures = [
                file
                for name, figure in figures.items()
                if figure is not None
                for file in save(figure, folder / name)
            ]
    except OSError as error:
        raise InputError(f"cannot write the report to {folder}: {error.strerror}") from error
    return [*(folder / name for name in files), *pictures]


def _sorted(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Best first: the least of what tells of movement, the most of everything else."""
    known = [*METRICS, "Acc0", "gain"]
    if by not in known:
        raise unknown("metric to sort by", by, known)
    return table.sort_values(by, ascending=by in ("EVM", "VS"), kind="stable")


def _words(frame: pd.DataFrame) -> pd.Series:
    """The key of each row as one text."""

    def write(value: Any) -> str:
        if pd.isna(value):
            return ""
        return value if isinstance(value, str) else f"{value:g}"

    return frame[[*KEYS]].map(write).agg(" ".join, axis=1)


def _published(table: pd.DataFrame, reported: pd.DataFrame) -> pd.DataFrame:
    """Measured and reported AUC of the same name, place and labels, over the points."""

    def plain(name: str) -> str:
        return parse(name)[0].replace("_", "").lower()

    theirs = metric_table(curves(reported), "published")
    if "defect" not in reported:
        reported = reported.assign(defect="")
    defects = dict(zip(_words(reported), reported.defect, strict=True))
    theirs["defect"] = [defects[words] for words in _words(theirs)]
    keys = ["environment", "dataset", "labels", "name"]
    ours, theirs = (
        frame.assign(
            name=frame.algorithm.map(plain),
            dataset=frame.dataset.str.lower(),
            labels=frame.labels.astype("Int64"),
        )
        for frame in (table, theirs)
    )
    both = ours.merge(theirs, on=keys, suffixes=("", "_reported"))
    both = both.fillna({"defect": ""}).sort_values(["environment", "dataset", "labels"])
    return both[["environment", "dataset", "labels", "algorithm", "AUC", "AUC_reported", "defect"]]


def _whole(found: Sequence[KeyedCurve]) -> list[KeyedCurve]:
    return [curve for curve in found if {0.0, 1.0} <= set(curve.ts)]


def _detection_curves(store: Store) -> list[KeyedCurve]:
    """How well each method tells inconsistent rows, where it says so and there are some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of learners that do not say so
        frame = tidy(store, "detection")
        return _whole(curves(frame)) if len(frame) else []


_CAPTION = """\
The score is {score}. In brackets: 95% intervals over seeds (jackknife, Student's t) around the
bias-corrected estimate; in parentheses: the plain value of the mean curve, where it differs.
Floor: what EVM would be if seeds alone moved the curve. p: of a curve that does not depend on t.
Gain: mean difference to the matched baseline over all t. Break-even: the first t at which the curve
falls below it (none: not up to 1). Bold AUC: not significantly worse than the first (95%
interval of the difference over seeds); a curve that lacks seeds has no rank. Built for: the
inconsistencies that a method is meant for, in bold where this is one.
"""

_DETECTION = """\
## Detection

![Detection over the inconsistency t](detection.png)

How well a method's own score tells inconsistent rows, set aside before any fit, from test rows:
AUROC, over all t (with a 95% interval over seeds) and at each. 0.5 is chance. Methods that have no
score of their own are judged by how unsure they are (1 - max p). One that learns from unlabeled
rows which rows are foreign may be below chance where none is.
"""

_PUBLISHED = """\
## Beside reported numbers

AUC over the points, as reported elsewhere under another protocol; never mixed with the measured.
"""


def _page(
    table: pd.DataFrame,
    detected: Sequence[KeyedCurve],
    notes: Sequence[str],
    score: str,
    reported: pd.DataFrame,
) -> str:
    parts = [
        "# Robustness Analysis Curves\n",
        "![Score over the inconsistency t](rac.png)\n",
        _CAPTION.format(score=score.replace("_", " ")),
    ]
    parts += _tables(table, _columns, "##")
    if detected:
        points = [dict(zip(c.ts.tolist(), c.scores.mean(0), strict=True)) for c in detected]
        seeds = [str(len(c.seeds)) for c in detected]
        found = metric_table(detected, intervals=True).assign(points=points, seeds=seeds)
        found = found.sort_values("AUC", ascending=False)
        parts += [_DETECTION, *_tables(found, _detection_columns, "###")]
    if len(reported):
        beside = tabulate(reported.map(show), headers="keys", tablefmt="github", **_AS_IS)
        parts += [_PUBLISHED, str(beside), ""]
    if notes:
        lines = (" ".join(note.split()) for note in notes)
        parts += ["## Notes\n", *(f"- {html.escape(line, quote=False)}" for line in lines), ""]
    return "\n".join(parts)


def _tables(table: pd.DataFrame, columns: Any, heading: str) -> Iterator[str]:
    """For every task a heading and its rows."""
    for task, rows in table.groupby(TASK, dropna=False):
        yield f"{heading} {html.escape(task_name(task), quote=False)}\n"
        rows = rows.assign(algorithm=[html.escape(name, quote=False) for name in rows.algorithm])
        yield str(tabulate(columns(rows), headers="keys", tablefmt="github", **_AS_IS))
        yield ""


def _detection_columns(rows: pd.DataFrame) -> pd.DataFrame:
    shown = pd.DataFrame({"algorithm": rows.algorithm, "seeds": rows.seeds})
    shown["all t"] = [show_interval(row, "AUC") for _, row in rows.iterrows()]
    for t in sorted(set().union(*rows.points)):
        shown[f"t = {t:g}"] = [show(points.get(t)) for points in rows.points]
    return shown


_AS_IS: Any = {"showindex": False, "disable_numparse": True}


def _built_for(targets: str, environment: str, bold: str) -> str:
    """The targets, in bold those that the environment is one of."""
    name, options = parse(environment)
    here = {*name.split("+"), options.get("kind")}
    words = targets.split(", ")
    return ", ".join(bold.format(word) if word in here else word for word in words)


def _columns(rows: pd.DataFrame, bold: str = "**{}**") -> pd.DataFrame:
    """The columns a reader wants first; the csv has them all."""
    ranks = ["" if np.isnan(rank) else f"{rank:.0f}" for rank in rows["rank"]]
    shown = pd.DataFrame({"rank": ranks, "algorithm": rows.algorithm}, index=rows.index)
    if rows.targets.any():
        pairs = zip(rows.targets, rows.environment, strict=True)
        shown["built for"] = [
            _built_for(targets, environment, bold) for targets, environment in pairs
        ]
    shown["seeds"] = rows.seeds.map(str)
    for name in METRICS:
        shown[name] = [show_interval(row, name) for _, row in rows.iterrows()]
        if name == "AUC":
            shown[name] = [
                bold.format(text) if best is True else text
                for text, best in zip(shown[name], rows.best, strict=True)
            ]
        if name == "EVM":
            shown["floor"] = rows.EVM_floor.map(show)
    shown["p"] = ["<0.001" if p < 0.001 else show(p) for p in rows.p_depends_on_t]
    shown["gain"] = [show_interval(r, "gain") if r.break_even else "" for _, r in rows.iterrows()]
    shown["break-even"] = rows.break_even
    notes = [
        "; ".join(filter(None, words)) for words in zip(rows.note, rows.incomplete, strict=True)
    ]
    if any(notes):
        shown["note"] = notes
    return shown


def _latex(table: pd.DataFrame) -> str:
    task = [name for name in TASK if table[name].notna().any()]
    table = table.sort_values(TASK, kind="stable")
    columns = pd.concat([table[task].map(show), _columns(table, "BOLD({})")], axis=1)
    text = str(tabulate(columns, headers="keys", tablefmt="latex_booktabs", **_AS_IS)) + "\n"
    return re.sub(r"BOLD\(((?:[^()]|\([^()]*\))*)\)", r"\\textbf{\1}", text)


def _omissions(frame: pd.DataFrame) -> list[str]:
    stale = int((frame.stale & frame.error.isna()).sum())
    notes = [f"{stale} records of another version (stale)"] if stale else []
    for (algorithm, reason), rows in failures(frame).groupby(["algorithm", "error"]):
        notes.append(f"{len(rows)} failed cells of {algorithm}: {reason}")
    warned = frame[frame.error.isna() & ~frame.stale].explode("warnings").dropna(subset="warnings")
    for (algorithm, warning), rows in warned.groupby(["algorithm", "warnings"]):
        notes.append(f"{len(rows)} cells of {algorithm} warned: {warning}")
    return notes
