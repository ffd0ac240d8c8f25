"""What a report says beside its tables, in a sentence each."""

from collections.abc import Sequence

import pandas as pd

from robustssl.analysis.curves import KeyedCurve
from robustssl.analysis.identical import same_as_baseline
from robustssl.records.frame import failures, successes
from robustssl.reports.curve_figures import without_gain
from robustssl.reports.shown import Shown


def of_methods(found: Sequence[KeyedCurve], view: Shown) -> list[str]:
    """What is to be said of whole methods: who is not drawn, and who is like its baseline."""
    same = same_as_baseline(found)
    said = [f"{name} is {same[name]}" for name in sorted(same) if same[name].everywhere]
    if view.left_out:
        names = {c.name for c in found if not (c.method and c.method.supervised)}
        rest = ", ".join(sorted(names - {*(view.methods or ())}))
        said.append(f"figures of curves: {view.left_out} These are {rest}")
    return [*said, *filter(None, [without_gain(found, view)])]


def omissions(frame: pd.DataFrame) -> list[str]:
    """What the tables do not show."""
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
