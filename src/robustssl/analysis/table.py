"""Tables of metrics: of any results, and of records with the gain over the baseline and ranks."""

import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustssl.analysis.compare import area_below, break_even
from robustssl.analysis.curve import Curve
from robustssl.analysis.curves import KeyedCurve, Pair, curves, label_of, matched, paired
from robustssl.analysis.identical import Same
from robustssl.analysis.interval import Interval, Ties, write_number
from robustssl.analysis.metrics import metrics_of
from robustssl.errors import InputError
from robustssl.records import catalog
from robustssl.records.results import read
from robustssl.spec import parse

_ENDS = ("estimate", "low", "high")
NOT_KNOWN = Interval(np.nan, plain=np.nan)


def metrics(
    path: str | Path,
    convention: str = "definition",
    *,
    score: str | None = None,
    intervals: bool = False,
) -> pd.DataFrame:
    """All metrics of every curve in a file or folder of results, one row a curve."""
    return metric_table(usable(curves(read(path, score)), convention), convention, intervals)


def usable(found: Sequence[KeyedCurve], convention: str = "definition") -> list[KeyedCurve]:
    """The curves whose grid allows the metrics; those over the points need no t = 1."""
    kept = []
    for curve in found:
        lacking, name = [f"t = {end}" for end in (0, 1) if end not in curve.ts], label_of(curve.key)
        if lacking == ["t = 1"] and convention == "published" and len(curve.ts) > 1:
            warnings.warn(f"{name}: lacks t = 1; over the points it has", stacklevel=3)
        elif lacking:
            warnings.warn(f"{name}: left out, it lacks {lacking[0]}", stacklevel=3)
            continue
        kept.append(curve)
    if not kept:
        raise InputError(
            "no curve is whole: each needs t = 0 and t = 1, and a seed that has every t. Columns "
            "other than t, seed and the score tell curves apart"
            + (f": {', '.join(found[0].key)}" if found else "")
        )
    return kept


def metric_table(
    found: Sequence[KeyedCurve], convention: str = "definition", intervals: bool = False
) -> pd.DataFrame:
    """The metrics of each mean curve; with `intervals` also NAME_estimate, _low, _high, _note."""
    rows: dict[int, dict[str, Any]] = {}
    for ids in _alike(found):
        ts, scores = found[ids[0]].ts, np.stack([found[i].scores for i in ids])
        ties = Ties(np.array([found[i].rows for i in ids]))
        values: dict[str, Any] = {}
        for name, metric in metrics_of(convention).items():
            values[name] = metric(ts, scores.mean(-2))
            if intervals:
                none = np.full(len(ids), np.nan)
                nothing = Interval(none, none, none, note=np.full(len(ids), ""))
                whole = {0.0, 1.0} <= set(ts)
                interval = Curve(ts, scores, ties=ties).interval(metric) if whole else nothing
                values |= {f"{name}_{end}": getattr(interval, end) for end in (*_ENDS, "note")}
        for place, i in enumerate(ids):
            rows[i] = {**found[i].key, **{name: value[place] for name, value in values.items()}}
    table = pd.DataFrame([rows[i] for i in sorted(rows)])
    if "labels" in table and table.labels.dtype == float:  # whole numbers, and none for some
        table["labels"] = table.labels.convert_dtypes()
    return table


def _alike(found: Sequence[KeyedCurve]) -> Iterable[list[int]]:
    """Indices of curves that can be computed at once: same grid, same number of seeds."""
    alike: dict[Any, list[int]] = defaultdict(list)
    for i, curve in enumerate(found):
        alike[tuple(curve.ts), len(curve.scores)].append(i)
    return alike.values()


def show(value: Any) -> str:
    """A number to three decimals; nothing for what is not there; n/a for what is undefined."""
    if value is None or value is pd.NA:
        return ""
    return write_number(value) if isinstance(value, float | np.floating) else str(value)


def interval_of(row: pd.Series, name: str) -> Interval:
    """The interval that a row of a table holds of a metric."""
    estimate, low, high = (row[f"{name}_{end}"] for end in _ENDS)
    return Interval(estimate, low, high, row[name], row[f"{name}_note"])


def study_table(found: Sequence[KeyedCurve]) -> pd.DataFrame:
    """Of every whole curve: its method, seeds, metrics with intervals, noise floors, dependence on
    t, gain over its baseline, and its rank in its task by AUC, `best` where it is not significantly
    worse than the first. A curve that lacks seeds that others have has no rank.
    """
    found = usable(found)
    pairs = {id(mine): pair for mine, pair in matched(found)}
    more = []
    for keyed in found:
        pair = pairs.get(id(keyed))
        floor, against = keyed.curve.noise_floor(), against_baseline(pair)
        same = Same(pair.identical, pair.cells) if pair else Same(0, 0)
        more.append(
            {
                "method": keyed.name,
                "drawn": keyed.drawn or keyed.key["dataset"],
                "supervised": keyed.method.supervised if keyed.method else None,
                "targets": ", ".join(targets_of(keyed.algorithm)),
                "seeds": keyed.curve.seeds,
                "EVM_floor": floor["EVM"],
                "VS_floor": floor["VS"],
                "p_depends_on_t": keyed.curve.dependence(),
                "baseline": keyed.method.baseline if keyed.method else None,
                **against,
                "compared_cells": same.of,
                "identical_cells": same.cells,
                "note": _note(keyed, against, same),
            }
        )
    table = pd.concat([metric_table(found, intervals=True), pd.DataFrame(more)], axis=1)
    return table.join(_ranks(found))


def targets_of(algorithm: str) -> tuple[str, ...]:
    """The inconsistencies that the authors of a built-in algorithm (a spec) claim to answer."""
    about = catalog.entry("algorithm", parse(algorithm)[0])
    return tuple(about.targets) if about else ()


def _ranks(found: Sequence[KeyedCurve]) -> pd.DataFrame:
    """Rank and `best` of the curves of a task that have all the seeds; else why there is none."""
    places: dict[Any, list[int]] = defaultdict(list)
    for i, curve in enumerate(found):
        places[curve.place].append(i)
    rows: dict[int, dict[str, Any]] = {}
    for ids in places.values():
        most = max(len(found[i].seeds) for i in ids)
        whole = [i for i in ids if len(found[i].seeds) == most]
        auc = pd.Series([found[i].curve.metrics()["AUC"] for i in whole]).round(12)  # rounded ties
        ranks = dict(zip(whole, auc.rank(ascending=False, method="min"), strict=True))
        first = found[min(whole, key=lambda i: ranks[i])]
        for i in ids:
            lacks = f"{len(found[i].seeds)} of {most} seeds: no rank"
            rows[i] = {
                "rank": ranks.get(i, np.nan),
                "best": _not_worse(found[i], first) if i in ranks else None,
                "incomplete": "" if i in ranks else lacks,
            }
    return pd.DataFrame([rows[i] for i in range(len(found))])


def _not_worse(curve: KeyedCurve, first: KeyedCurve) -> bool:
    """Whether the interval of the difference of AUC over shared seeds does not lie above 0."""
    pair = paired(first, curve)
    if curve is first or pair is None:
        return curve is first
    return not pair.gain.interval("AUC").low > 0


def against_baseline(pair: Pair | None) -> dict[str, Any]:
    """The gain over the matched baseline, over the seeds that both have; nan where it is not known,
    and then an empty break-even.
    """
    over = below = NOT_KNOWN
    told = ""
    if pair is not None:
        over, below = pair.gain.interval("AUC"), pair.gain.interval(area_below)
        told = str(break_even(pair.gain))
    return {**as_columns("gain", over), **as_columns("area_below", below), "break_even": told}


def as_columns(name: str, interval: Interval) -> dict[str, Any]:
    """An interval as columns of a table, which `interval_of` reads."""
    ends = {f"{name}_{end}": getattr(interval, end) for end in (*_ENDS, "note")}
    return {name: interval.plain, **ends}


def _note(keyed: KeyedCurve, against: dict[str, Any], same: Same) -> str:
    notes = []
    baseline = keyed.method.baseline if keyed.method else None
    supervised = keyed.method.supervised if keyed.method else None
    if np.ptp(keyed.scores, axis=-1).max() == 0 and supervised is not True:
        perfect = keyed.scores.min() == 1
        notes.append("flat at 1" if perfect else "FLAT: do its unlabeled data do anything?")
    if keyed.method is not None and supervised is None:
        notes.append("its records do not say what its baseline is")
    elif keyed.method is not None and not supervised and baseline is None:
        notes.append("it names no baseline")
    elif baseline and not against["break_even"]:
        notes.append(f"{baseline} was not run on these seeds and t")
    if same.everywhere:
        notes.append(str(same))
    if keyed.older:
        notes.append("of an older version")
    return "; ".join(notes)
