"""The report as a page of markdown: tables task by task, and notes."""

import html
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from robustssl.analysis.curves import TASK, KeyedCurve, curves, task_in_words
from robustssl.analysis.table import interval_of, metric_table, show, usable
from robustssl.errors import printable
from robustssl.records.published import KEYS
from robustssl.spec import parse

METRICS = ("AUC", "WA", "EVM", "VS", "RCC")

_CAPTION = """\
The score is {score}. In brackets: 95% intervals over seeds (jackknife, Student's t) around the
bias-corrected estimate; in parentheses: the plain value of the mean curve, where it differs. An
interval marked ~ may cover less often than that, since the curve is flat in places. Floor: what EVM
would be if the seeds alone moved the curve. p: p-value of the test that the score does not depend
on t. Gain: mean difference to the matched baseline over all t; identical: the predictions are the
baseline's in every cell. Break-even: the first t at which the curve falls below the baseline (none:
not up to 1). Bold AUC: not significantly worse than the first (95% interval of the difference over
seeds); a curve that lacks seeds has no rank. Claims: the inconsistencies that the authors of a
method claim to answer, in bold where this is one; consistent is a claim about t = 0 alone.
"""

_DETECTION = """\
## Detection

![Detection over the inconsistency t](detection.png)

How well a method's own score tells inconsistent rows, set aside before any fit, from test rows:
AUROC, over all t (with a 95% interval over seeds) and at each. 0.5 is chance. Methods that have no
score of their own are judged by how unsure they are (1 - max p). One that learns from unlabeled
rows which ones are inconsistent may be below chance where none is.
"""

_PUBLISHED = """\
## Beside reported numbers

AUC over the points, as reported elsewhere under another protocol; never mixed with the measured.
"""


def page_of(
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
    parts += _tables(table, shown_columns, "##")
    if detected:
        points = [dict(zip(c.ts.tolist(), c.scores.mean(0), strict=True)) for c in detected]
        seeds = [str(len(c.seeds)) for c in detected]
        found = metric_table(detected, intervals=True)
        found = found.assign(points=points, seeds=seeds, method=[c.name for c in detected])
        found = found.sort_values("AUC", ascending=False)
        parts += [_DETECTION, *_tables(found, _detection_columns, "###")]
    if len(reported):
        parts += [_PUBLISHED, _written(reported.map(show)), ""]
    if notes:
        lines = (" ".join(note.split()) for note in notes)
        parts += ["## Notes\n", *(f"- {html.escape(line, quote=False)}" for line in lines), ""]
    return printable("\n".join(parts))


def _written(table: pd.DataFrame) -> str:
    """A table of texts, whose cells end at no | of theirs."""
    cells = table.map(lambda text: text.replace("|", r"\|"))
    return str(tabulate(cells, headers="keys", tablefmt="github", **AS_IS))


def _tables(table: pd.DataFrame, columns: Any, heading: str) -> Iterator[str]:
    """For every task a heading and its rows."""
    for task, rows in table.groupby(TASK, dropna=False):
        yield f"{heading} {html.escape(task_in_words(task), quote=False)}\n"
        rows = rows.assign(method=[html.escape(name, quote=False) for name in rows.method])
        yield _written(columns(rows))
        yield ""


def _detection_columns(rows: pd.DataFrame) -> pd.DataFrame:
    shown = pd.DataFrame({"method": rows.method, "seeds": rows.seeds})
    shown["all t"] = [str(interval_of(row, "AUC")) for _, row in rows.iterrows()]
    for t in sorted(set().union(*rows.points)):
        shown[f"t = {t:g}"] = [show(points.get(t)) for points in rows.points]
    return shown


AS_IS: Any = {"showindex": False, "disable_numparse": True}


def _claims(targets: str, environment: str, bold: str) -> str:
    """What the authors claim to answer, in bold those that the environment is one of."""
    name, options = parse(environment)
    here = {*name.split("+"), options.get("kind")}
    words = targets.split(", ")
    return ", ".join(bold.format(word) if word in here else word for word in words)


def _gain(row: pd.Series) -> str:
    """The gain; of a method that has a baseline but no gain, that it is not known."""
    if row.break_even:
        return format(interval_of(row, "gain"), "+.3f")
    return "" if row.supervised else "not known"


def shown_columns(rows: pd.DataFrame, bold: str = "**{}**") -> pd.DataFrame:
    """The columns a reader wants first; the csv has them all."""
    ranks = ["" if np.isnan(rank) else f"{rank:.0f}" for rank in rows["rank"]]
    shown = pd.DataFrame({"rank": ranks, "method": rows.method}, index=rows.index)
    if rows.targets.any():
        pairs = zip(rows.targets, rows.environment, strict=True)
        shown["claims"] = [_claims(targets, environment, bold) for targets, environment in pairs]
    shown["seeds"] = rows.seeds.map(str)
    for name in METRICS:
        shown[name] = [str(interval_of(row, name)) for _, row in rows.iterrows()]
        if name == "AUC":
            shown[name] = [
                bold.format(text) if best is True else text
                for text, best in zip(shown[name], rows.best, strict=True)
            ]
        if name == "EVM":
            shown["floor"] = rows.EVM_floor.map(show)
    shown["p"] = ["<0.001" if p < 0.001 else show(p) for p in rows.p_depends_on_t]
    shown["gain"] = [_gain(row) for _, row in rows.iterrows()]
    shown["break-even"] = rows.break_even
    notes = [
        "; ".join(filter(None, words)) for words in zip(rows.note, rows.incomplete, strict=True)
    ]
    if any(notes):
        shown["note"] = notes
    return shown


def _words(frame: pd.DataFrame) -> pd.Series:
    """The key of each row as one text."""

    def write(value: Any) -> str:
        if pd.isna(value):
            return ""
        return value if isinstance(value, str) else f"{value:g}"

    return frame[[*KEYS]].map(write).agg(" ".join, axis=1)


def beside_reported(table: pd.DataFrame, reported: pd.DataFrame) -> pd.DataFrame:
    """Measured and reported AUC of the same name, place and labels, over the points."""

    def plain(name: str) -> str:
        return parse(name)[0].replace("_", "").lower()

    theirs = metric_table(usable(curves(reported), "published"), "published")
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
