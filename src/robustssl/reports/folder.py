"""The report of a store: a folder with a table (markdown, csv, LaTeX) and the curves (PNG, SVG)."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from robustssl.errors import InputError
from robustssl.reports.plot import draw_curves, save
from robustssl.reports.table import show, show_interval, study_table
from robustssl.results import curves, tidy
from robustssl.store import Store, failures


def report(
    store: str | Path = "robustssl.sqlite",
    out: str | Path = "report",
    *,
    score: str = "accuracy",
) -> list[Path]:
    """Write the report of a store into a folder; returns the files written."""
    with Store(store, create=False) as opened:
        frame, everything = tidy(opened, score), opened.frame()
    if frame.empty:
        raise InputError(f"{store} holds no scores to report; `robustssl status` tells why")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found = curves(frame)
        table = study_table(found)
    notes = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = {
            "table.md": _page(table, [*notes, *_omissions(everything)], score),
            "table.csv": table.to_csv(index=False),
            "table.tex": _latex(table),
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        pictures = save(
            draw_curves([c for c in found if {0.0, 1.0} <= set(c.ts)], score), folder / "rac"
        )
    except OSError as error:
        raise InputError(f"cannot write the report to {folder}: {error.strerror}") from error
    return [*(folder / name for name in files), *pictures]


_CAPTION = """\
The score is {score}. In brackets: 95% intervals over seeds (jackknife, Student's t) around the
bias-corrected estimate; in parentheses: the plain value of the mean curve, where it differs.
Floor: what EVM would be if seeds alone moved the curve. p: of a curve that does not depend on t.
Gain: mean difference to the matched baseline over all t. Break-even: the first t at which the curve
falls below it (none: not up to 1).
"""

_TASK = ["environment", "dataset", "labels", "source", "target"]


def _page(table: pd.DataFrame, notes: Sequence[str], score: str) -> str:
    parts = [
        "# Robustness Analysis Curves\n",
        "![Score over the inconsistency t](rac.png)\n",
        _CAPTION.format(score=score.replace("_", " ")),
    ]
    for task, rows in table.groupby(_TASK, dropna=False):
        words = [str(word) for word in task if not pd.isna(word)]
        words[2] += " labels a class"
        parts.append(f"## {', '.join(words)}\n")
        best_first = rows.sort_values("AUC", ascending=False)
        parts.append(tabulate(_columns(best_first), headers="keys", tablefmt="github", **_AS_IS))
        parts.append("")
    if notes:
        parts += ["## Notes\n", *(f"- {note}" for note in notes), ""]
    return "\n".join(parts)


_AS_IS: Any = {"showindex": False, "disable_numparse": True}


def _columns(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns a reader wants first; the csv has them all."""
    shown = pd.DataFrame({"algorithm": rows.algorithm, "seeds": rows.seeds.map(str)})
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
    columns = pd.concat([table[task].map(show), _columns(table)], axis=1)
    return str(tabulate(columns, headers="keys", tablefmt="latex_booktabs", **_AS_IS)) + "\n"


def _omissions(frame: pd.DataFrame) -> list[str]:
    stale = int((frame.stale & frame.error.isna()).sum())
    notes = [f"{stale} records of another version (stale)"] if stale else []
    for (algorithm, reason), rows in failures(frame).groupby(["algorithm", "error"]):
        notes.append(f"{len(rows)} failed cells of {algorithm}: {reason}")
    warned = frame[frame.error.isna() & ~frame.stale].explode("warnings").dropna(subset="warnings")
    for (algorithm, warning), rows in warned.groupby(["algorithm", "warnings"]):
        notes.append(f"{len(rows)} cells of {algorithm} warned: {warning}")
    return notes
