"""The sections of a report beside its main tables, each with a row for each curve."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from robustssl.analysis.beside import MIXES, replaced_and_added
from robustssl.analysis.curves import TASK, KeyedCurve, task_in_words
from robustssl.analysis.means import means_over_tasks
from robustssl.analysis.table import interval_of, metric_table, show
from robustssl.reports.columns import gain_text, in_words, score_text, signed

THERE = "accuracy_there"
MOST = 6  # names of tasks in a sentence

_THERE = """\
## On inconsistent rows

{picture}The accuracy on inconsistent rows, which no method was given, beside the {score} on test
rows, each with its gain over the matched baseline: over all t, with 95% intervals over seeds. A
method may lose on test rows and gain on these.
{unknown}"""

_PICTURE = """\
![Accuracy on inconsistent rows over the inconsistency t](there.png)

"""

_UNKNOWN = """\

Not known for {tasks}: there, no inconsistent rows are set aside, or they are of classes without
labels, or the records are older than this score.
"""

_MEANS = """\
## Over all tasks

Gain and metrics of each method in the mean over its tasks, without oracles and ceilings; in
brackets 95% intervals over seeds, on these tasks. Harms: on how many tasks, of those where it was
compared with its baseline, the whole interval of the gain lies below 0.
"""

_MIX = """\
## Rows replaced or added

With mix=replace, inconsistent rows take the place of consistent ones; with mix=add they come on top
of them. Gain: over the matched baseline. Loss: the score at t = 0 minus the mean over all t. At
t = 0 both are the same, so the loss with rows replaced has two parts: the loss with rows added,
which is due to the inconsistent rows alone, and the difference of the scores, added - replaced,
which is due to fewer consistent rows. Losses and their difference are over the seeds that both
have; intervals are at 95%.
"""

_DETECTION = """\
## Detection

![Detection over the inconsistency t](detection.png)

How well a method's own score tells inconsistent rows, set aside before any fit, from test rows:
AUROC, over all t (with a 95% interval over seeds) and at each. 0.5 is chance. Methods that have no
score of their own are judged by how unsure they are (1 - max p). One that learns from unlabeled
rows which ones are inconsistent may be below chance where none is.
"""


@dataclass(frozen=True)
class Section:
    """A title with what the rows mean, the rows, and the columns of these that are shown; and maybe
    a sheet of numbers. One that `comes_first` stands before the tables of tasks.
    """

    name: str
    text: str
    rows: pd.DataFrame
    columns: Callable[[pd.DataFrame], pd.DataFrame]
    sheet: pd.DataFrame = field(default_factory=pd.DataFrame)
    comes_first: bool = False

    @property
    def title(self) -> str:
        return self.text.partition("\n")[0].lstrip("# ")


def means_section(found: Sequence[KeyedCurve]) -> Section | None:
    """Every method over all tasks, where there are several."""
    if len({curve.task for curve in found if not curve.task.access}) < 2:
        return None
    rows = means_over_tasks(found)
    return Section("means", _MEANS, rows, _mean_columns, rows, comes_first=True)


def _mean_columns(rows: pd.DataFrame) -> pd.DataFrame:
    every = [row for _, row in rows.iterrows()]
    shown = pd.DataFrame({"method": rows.method}, index=rows.index)
    shown["gain"] = ["" if row.supervised else _or_not_known(row, "gain") for row in every]
    shown["AUC"] = [str(interval_of(row, "AUC")) for row in every]
    shown["harms"] = ["" if row.supervised else f"{row.harmed} of {row.compared}" for row in every]
    shown["WA"] = [str(interval_of(row, "WA")) for row in every]
    shown["tasks"] = rows.tasks.map(str)
    if rows.note.any():
        shown["note"] = rows.note
    return shown


def _or_not_known(row: pd.Series, name: str) -> str:
    return "not known" if np.isnan(row[name]) else signed(interval_of(row, name))


def there_section(table: pd.DataFrame, score: str) -> Section:
    """Both populations, on the tasks where inconsistent rows have a score."""
    told = table[THERE].notna() if THERE in table else pd.Series(False, table.index)
    known = told.groupby([table[name] for name in TASK], dropna=False).transform("any")
    rows = table[known]
    if len(rows):
        rows = rows.sort_values(THERE, ascending=False, kind="stable")
    text = _THERE.format(
        score=in_words(score),
        picture=_PICTURE if len(rows) else "",
        unknown=_unknown(table[~known], any_known=len(rows) > 0),
    )

    def columns(rows: pd.DataFrame) -> pd.DataFrame:
        shown = pd.DataFrame({"method": rows.method, "seeds": rows.seeds.map(str)})
        every = [row for _, row in rows.iterrows()]
        shown[in_words(score)] = [str(interval_of(row, "AUC")) for row in every]
        shown["gain"] = [gain_text(row) for row in every]
        shown["accuracy there"] = [score_text(row, THERE) for row in every]
        shown["gain there"] = [gain_text(row, f"{THERE}_") for row in every]
        shown["break-even there"] = rows[f"{THERE}_break_even"]
        return shown

    return Section("there", text, rows, columns)


def _unknown(rows: pd.DataFrame, any_known: bool) -> str:
    """For which tasks it is not known, and why."""
    names = [task_in_words(task) for task, _ in rows.groupby(TASK, dropna=False)]
    if not names:
        return ""
    more = f"; and {len(names) - MOST} more" if len(names) > MOST else ""
    which = "; ".join(names[:MOST]) + more if any_known else "any task here"
    return _UNKNOWN.format(tasks=which)


def mix_section(found: Sequence[KeyedCurve]) -> Section | None:
    """What fewer consistent rows do, where tasks were run with mix=add."""
    rows = replaced_and_added(found)
    return Section("mix", _MIX, rows, _mix_columns) if len(rows) else None


def _mix_columns(rows: pd.DataFrame) -> pd.DataFrame:
    every = [row for _, row in rows.iterrows()]

    def text(row: pd.Series, name: str, *mixes: str) -> str:
        if not all(row[f"ran_{mix}"] for mix in mixes):
            return "not run"
        return _or_not_known(row, name)

    seeds = ["" if np.isnan(row.seeds) else f"{row.seeds:.0f}" for row in every]
    shown = pd.DataFrame({"method": rows.method, "seeds": seeds}, index=rows.index)
    words = dict(zip(MIXES, ("replaced", "added"), strict=True))
    for mix, word in words.items():
        shown[f"loss, {word}"] = [text(row, f"{mix}_loss", mix) for row in every]
    shown["added - replaced"] = [text(row, "difference", *MIXES) for row in every]
    for mix, word in words.items():
        shown[f"gain, {word}"] = [text(row, f"{mix}_gain", mix) for row in every]
    return shown


def detection_section(detected: Sequence[KeyedCurve]) -> Section | None:
    """How well each method tells inconsistent rows, where one does."""
    if not detected:
        return None
    points = [dict(zip(c.ts.tolist(), c.scores.mean(0), strict=True)) for c in detected]
    seeds = [str(len(c.seeds)) for c in detected]
    rows = metric_table(detected, intervals=True)
    rows = rows.assign(points=points, seeds=seeds, method=[c.name for c in detected])
    rows = rows.sort_values("AUC", ascending=False)
    return Section("detection", _DETECTION, rows, _detection_columns)


def _detection_columns(rows: pd.DataFrame) -> pd.DataFrame:
    shown = pd.DataFrame({"method": rows.method, "seeds": rows.seeds})
    shown["all t"] = [str(interval_of(row, "AUC")) for _, row in rows.iterrows()]
    for t in sorted(set().union(*rows.points)):
        shown[f"t = {t:g}"] = [show(points.get(t)) for points in rows.points]
    return shown
