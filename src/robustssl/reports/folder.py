"""The report of a store: a folder with a table (markdown, csv, LaTeX) and the curves (PNG, SVG)."""

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from robustssl import registry
from robustssl.errors import InputError
from robustssl.reports.plot import draw_curves, save
from robustssl.reports.table import metric_table, show, show_interval, study_table
from robustssl.results import KeyedCurve, curves, tidy
from robustssl.store import Store, failures, shown


def report(
    store: str | Path = "robustssl.sqlite",
    out: str | Path = "report",
    *,
    score: str = "accuracy",
) -> list[Path]:
    """Write the report of a store into a folder; returns the files written."""
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
        table = study_table(found)
    notes = [str(w.message) for w in (*caught, *more) if issubclass(w.category, UserWarning)]
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = {
            "table.md": _page(table, detected, [*notes, *_omissions(everything)], score),
            "table.csv": table.to_csv(index=False),
            "table.tex": _latex(table),
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        pictures = [
            file
            for name, drawn, what in (("rac", found, score), ("detection", detected, "detection"))
            if drawn
            for file in save(draw_curves(_whole(drawn), what), folder / name)
        ]
    except OSError as error:
        raise InputError(f"cannot write the report to {folder}: {error.strerror}") from error
    return [*(folder / name for name in files), *pictures]


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
falls below it (none: not up to 1). Built for: the inconsistencies that a method is meant for, in
bold where this is one.
"""

_DETECTION = """\
## Detection

![Detection over the inconsistency t](detection.png)

How well a method's own score tells inconsistent rows, set aside before any fit, from test rows:
AUROC, over all t (with a 95% interval over seeds) and at each. 0.5 is chance. Methods that have no
score of their own are judged by how unsure they are (1 - max p). One that learns from unlabeled
rows which rows are foreign may be below chance where none is.
"""

_TASK = ["environment", "dataset", "labels", "source", "target"]


def _page(
    table: pd.DataFrame, detected: Sequence[KeyedCurve], notes: Sequence[str], score: str
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
        parts += [_DETECTION, *_tables(found, _detection_columns, "###")]
    if notes:
        parts += ["## Notes\n", *(f"- {note}" for note in notes), ""]
    return "\n".join(parts)


def _tables(table: pd.DataFrame, columns: Any, heading: str) -> Iterator[str]:
    """For every task a heading and its rows, best first."""
    for task, rows in table.groupby(_TASK, dropna=False):
        words = [str(word) for word in task if not pd.isna(word)]
        words[2] += " labels a class"
        yield f"{heading} {', '.join(words)}\n"
        best_first = rows.sort_values("AUC", ascending=False)
        yield str(tabulate(columns(best_first), headers="keys", tablefmt="github", **_AS_IS))
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
    name, options = registry.parse(environment)
    here = {*name.split("+"), options.get("kind")}
    words = targets.split(", ")
    return ", ".join(bold.format(word) if word in here else word for word in words)


def _columns(rows: pd.DataFrame, bold: str = "**{}**") -> pd.DataFrame:
    """The columns a reader wants first; the csv has them all."""
    shown = pd.DataFrame({"algorithm": rows.algorithm})
    if rows.targets.any():
        pairs = zip(rows.targets, rows.environment, strict=True)
        shown["built for"] = [
            _built_for(targets, environment, bold) for targets, environment in pairs
        ]
    shown["seeds"] = rows.seeds.map(str)
    for name in ("AUC", "WA", "EVM", "VS", "RCC"):
        shown[name] = [show_interval(row, name) for _, row in rows.iterrows()]
        if name == "EVM":
            shown["floor"] = rows.EVM_floor.map(show)
    shown["p"] = ["<0.001" if p < 0.001 else show(p) for p in rows.p_depends_on_t]
    shown["gain"] = [show_interval(r, "gain") if r.break_even else "" for _, r in rows.iterrows()]
    shown["break-even"] = rows.break_even
    if rows.note.any():
        shown["note"] = rows.note
    return shown


def _latex(table: pd.DataFrame) -> str:
    task = [name for name in _TASK if table[name].notna().any()]
    columns = pd.concat([table[task].map(show), _columns(table, "BOLD({})")], axis=1)
    text = str(tabulate(columns, headers="keys", tablefmt="latex_booktabs", **_AS_IS)) + "\n"
    return re.sub(r"BOLD\((\w+)\)", r"\\textbf{\1}", text)


def _omissions(frame: pd.DataFrame) -> list[str]:
    stale = int((frame.stale & frame.error.isna()).sum())
    notes = [f"{stale} records of another version (stale)"] if stale else []
    for (algorithm, reason), rows in failures(frame).groupby(["algorithm", "error"]):
        notes.append(f"{len(rows)} failed cells of {algorithm}: {reason}")
    warned = frame[frame.error.isna() & ~frame.stale].explode("warnings").dropna(subset="warnings")
    for (algorithm, warning), rows in warned.groupby(["algorithm", "warnings"]):
        notes.append(f"{len(rows)} cells of {algorithm} warned: {warning}")
    return notes
