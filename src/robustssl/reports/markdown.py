"""The report as a page of markdown: tables task by task, and notes."""

import html
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from tabulate import tabulate

from robustssl.analysis.curves import TASK, curves, task_in_words
from robustssl.analysis.table import metric_table, show, usable
from robustssl.errors import printable
from robustssl.records.published import KEYS
from robustssl.reports.columns import AS_IS, asked_columns, has_first, in_words
from robustssl.reports.sections import Section
from robustssl.reports.shown import EVERYTHING, Shown
from robustssl.spec import parse

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
{first}"""

_PUBLISHED = """\
## Beside reported numbers

AUC over the points, as reported elsewhere under another protocol; never mixed with the measured.
"""


_FIRST = """\
Where methods are judged by another score first, such as balanced accuracy where the shares of the
classes change, it stands before AUC, over all t and with a gain of its own.
"""


def page_of(
    table: pd.DataFrame,
    sections: Sequence[Section],
    notes: Sequence[str],
    score: str,
    reported: pd.DataFrame,
    shown: Shown = EVERYTHING,
    columns: Sequence[str] = (),
) -> str:
    """The page: the table of each task, with the columns asked for, sections and notes."""
    parts = [
        "# Robustness Analysis Curves\n",
        "![Score over the inconsistency t](rac.png)\n",
        _CAPTION.format(score=in_words(score), first=_FIRST if has_first(table) else ""),
    ]
    before = [section for section in sections if section.comes_first]
    parts += [text for section in before for text in _section(section, shown)]
    parts += _tables(table, lambda rows: asked_columns(rows, columns), "##", shown)
    after = [section for section in sections if not section.comes_first]
    parts += [text for section in after for text in _section(section, shown)]
    if len(reported):
        parts += [_PUBLISHED, written(reported.map(show)), ""]
    if notes:
        lines = (" ".join(note.split()) for note in notes)
        parts += ["## Notes\n", *(f"- {html.escape(line, quote=False)}" for line in lines), ""]
    return printable("\n".join(parts))


def _section(section: Section, shown: Shown) -> Iterator[str]:
    yield section.text
    if len(section.rows):
        yield from _tables(section.rows, section.columns, "###", shown)


def written(table: pd.DataFrame) -> str:
    """A table of texts, whose cells end at no | of theirs."""
    cells = table.map(lambda text: text.replace("|", r"\|"))
    return str(tabulate(cells, headers="keys", tablefmt="github", **AS_IS))


def _tables(table: pd.DataFrame, columns: Any, heading: str, shown: Shown) -> Iterator[str]:
    """For every task a heading and its rows."""
    for task, rows in table.groupby(TASK, dropna=False):
        if name := task_in_words(task, shown.names):
            yield f"{heading} {html.escape(name, quote=False)}\n"
        names = map(shown.name, rows.method)
        rows = rows.assign(method=[html.escape(name, quote=False) for name in names])
        yield written(columns(rows))
        yield ""


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
