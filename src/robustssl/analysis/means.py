"""A row for each method: its metrics and its gain in the mean over tasks."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from robustssl.analysis.curves import TASK, KeyedCurve, Pair, matched
from robustssl.analysis.identical import Same, same_as_baseline
from robustssl.analysis.interval import Interval
from robustssl.analysis.table import NOT_KNOWN, as_columns
from robustssl.analysis.tasks import Part, over_tasks

MEANS = ("AUC", "Acc0", "WA")  # metrics in the units of the score


def means_over_tasks(found: Sequence[KeyedCurve]) -> pd.DataFrame:
    """Of each method the means over its tasks, by the rule of `analysis.tasks`, best gain first.
    `tasks` counts its tasks, `compared` those that have a gain, `harmed` those where the whole
    interval of the gain lies below 0. Oracles and ceilings are no tasks.
    """
    proper = [curve for curve in found if curve.is_whole and not curve.task.access]
    pairs = {id(mine): pair for mine, pair in matched(proper)}
    same = same_as_baseline(proper)
    methods: dict[str, list[KeyedCurve]] = defaultdict(list)
    for curve in proper:
        methods[curve.name].append(curve)
    rows = []
    for name, curves in methods.items():
        known = [(curve, pairs[id(curve)]) for curve in curves if id(curve) in pairs]
        rows.append(
            {
                **dict.fromkeys(TASK),
                "method": name,
                "supervised": curves[0].method.supervised if curves[0].method else None,
                "tasks": len(curves),
                "compared": len(known),
                "harmed": sum(bool(pair.gain.interval("AUC").high < 0) for _, pair in known),
                **{k: v for m in MEANS for k, v in as_columns(m, _mean(curves, m)).items()},
                **as_columns("gain", _mean_gain(known)),
                "note": "; ".join(_notes(curves, same.get(name))),
            }
        )
    table = pd.DataFrame(rows)
    return table.sort_values(["gain", "AUC"], ascending=False, kind="stable", ignore_index=True)


def _notes(curves: Sequence[KeyedCurve], same: Same | None) -> Iterator[str]:
    if same is not None and same.everywhere:
        yield str(same)
    if any(curve.older for curve in curves):
        yield "of an older version"


def _mean(curves: Sequence[KeyedCurve], metric: str) -> Interval:
    parts = [Part(c.drawn, c.seeds, c.curve.pseudo_values(metric), c.curve.ties) for c in curves]
    return over_tasks(parts, bounds=(0.0, 1.0))


def _mean_gain(known: Sequence[tuple[KeyedCurve, Pair]]) -> Interval:
    parts: list[Any] = [
        Part(curve.drawn, pair.seeds, pair.gain.pseudo_values("AUC"), pair.gain.ties)
        for curve, pair in known
    ]
    return over_tasks(parts) if parts else NOT_KNOWN
