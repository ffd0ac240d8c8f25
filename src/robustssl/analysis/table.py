"""Tables of metrics: of any results, and of a store with the gain over the baseline."""

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustssl import registry
from robustssl.analysis.compare import area_below, break_even, gain
from robustssl.analysis.curve import Curve
from robustssl.analysis.metrics import metrics_of
from robustssl.errors import InputError
from robustssl.records.files import KEYS, KeyedCurve, curves, label, read
from robustssl.spec import parse


def metrics(
    path: str | Path,
    convention: str = "definition",
    *,
    score: str | None = None,
    intervals: bool = False,
) -> pd.DataFrame:
    """All metrics of every curve in a file or folder of results, one row a curve."""
    return metric_table(curves(read(path, score)), convention, intervals=intervals)


def metric_table(
    found: Sequence[KeyedCurve], convention: str = "definition", *, intervals: bool = False
) -> pd.DataFrame:
    """The metrics of each mean curve; with `intervals` also NAME_estimate, _low and _high."""
    names = metrics_of(convention)
    found, rows = _usable(found, convention), {}
    for ids in _alike(found):
        ts, scores = found[ids[0]].ts, np.stack([found[i].scores for i in ids])
        values = {}
        for name, metric in names.items():
            values[name] = metric(ts, scores.mean(-2))
            if intervals:
                complete = {0.0, 1.0} <= set(ts)
                interval = Curve(ts, scores).interval(metric) if complete else None
                nothing = np.full(len(ids), np.nan)
                values |= {f"{name}_{end}": getattr(interval, end, nothing) for end in _ENDS}
        for place, i in enumerate(ids):
            rows[i] = {**found[i].key, **{name: value[place] for name, value in values.items()}}
    table = pd.DataFrame([rows[i] for i in sorted(rows)])
    if "labels" in table and table.labels.dtype == float:  # whole numbers, and none for some
        table["labels"] = table.labels.convert_dtypes()
    return table


_ENDS = ("estimate", "low", "high")
_SUFFIXES = tuple(f"_{end}" for end in _ENDS)


def _usable(found: Sequence[KeyedCurve], convention: str) -> list[KeyedCurve]:
    """The curves whose grid allows the metrics; those over the points need no t = 1."""
    usable = []
    for curve in found:
        lacking = [f"t = {end}" for end in (0, 1) if end not in curve.ts]
        if lacking == ["t = 1"] and convention == "published" and len(curve.ts) > 1:
            warnings.warn(f"{label(curve.key)}: lacks t = 1; over the points it has", stacklevel=3)
        elif lacking:
            warnings.warn(f"{label(curve.key)}: left out, it lacks {lacking[0]}", stacklevel=3)
            continue
        usable.append(curve)
    if not usable:
        raise InputError(
            "no curve is whole: each needs t = 0 and t = 1, and a seed that has every t. Columns "
            "other than t, seed and the score tell curves apart"
            + (f": {', '.join(found[0].key)}" if found else "")
        )
    return usable


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
    if isinstance(value, float | np.floating):
        return "n/a" if np.isnan(value) else f"{value:.3f}".replace("-0.000", "0.000")
    return str(value)


def show_interval(row: pd.Series, name: str) -> str:
    """`estimate [low, high]`, then in parentheses the plain value if it differs."""
    plain = show(row[name])
    if np.isnan(row[f"{name}_low"]):
        return plain
    estimate, low, high = (show(row[f"{name}_{end}"]) for end in _ENDS)
    return f"{estimate} [{low}, {high}]" + (f" ({plain})" if plain != estimate else "")


def study_table(found: Sequence[KeyedCurve]) -> pd.DataFrame:
    """Of every curve: seeds, metrics with intervals, noise floors, dependence on t, gain over its
    baseline, and its rank in its task by AUC, `best` where it is not significantly worse than the
    first. A curve that lacks t = 0 or 1, or seeds that others have, has no rank.
    """
    table = metric_table(found, intervals=True)
    pairs = {id(mine): pair for mine, pair in matched(found)}
    by_key = {_key(curve.key): curve for curve in found}
    more = []
    for key in table[[*KEYS]].to_dict("records"):
        keyed = by_key[_key(key)]
        curve = Curve(keyed.ts, keyed.scores)
        floor = curve.noise_floor()
        more.append(
            {
                "targets": ", ".join(sorted(trait(key["algorithm"], "targets") or ())),
                "seeds": curve.seeds,
                "EVM_floor": floor["EVM"],
                "VS_floor": floor["VS"],
                "p_depends_on_t": curve.dependence(),
                **(against := _against_baseline(key, pairs.get(id(keyed)))),
                "note": _note(curve, key["algorithm"], against),
            }
        )
    table = pd.concat([table, pd.DataFrame(more)], axis=1)
    ranked = [_ranks(task, by_key) for _, task in table.groupby(TASK, dropna=False)]
    return table.join(pd.concat(ranked)).join(_lacking_seeds(table))


def _ranks(task: pd.DataFrame, by_key: dict[tuple[Any, ...], KeyedCurve]) -> pd.DataFrame:
    """Of the rows of a task that have all the seeds."""
    whole = task[task.seeds == task.seeds.max()]
    rank = whole.AUC.round(12).rank(ascending=False, method="min")  # or rounding breaks ties
    keys = whole[[*KEYS]].to_dict("records")
    curves_ = [by_key[_key(key)] for key in keys]
    first = curves_[int(np.argmin(rank))]
    best = [_not_worse(curve, first) for curve in curves_]
    return pd.DataFrame({"rank": rank, "best": best}, index=whole.index).reindex(task.index)


def _not_worse(curve: KeyedCurve, first: KeyedCurve) -> bool:
    """Whether the interval of the difference of AUC over shared seeds holds 0."""
    pair = _paired(first, curve)
    if curve is first or pair is None:
        return curve is first
    low = gain(*pair).interval("AUC").low
    return bool(low <= 0) or bool(np.isnan(low))


def _lacking_seeds(table: pd.DataFrame) -> pd.Series:
    most = table.groupby(TASK, dropna=False).seeds.transform("max")
    words = [
        f"{n} of {m} seeds: no rank" if n < m else ""
        for n, m in zip(table.seeds, most, strict=True)
    ]
    return pd.Series(words, table.index, name="incomplete")


TASK = list(KEYS[:-1])


def task_name(task: Iterable[Any]) -> str:
    """A task in words."""
    words = [str(word) for word in task if not pd.isna(word)]
    if len(words) > 2:
        words[2] += " labels a class"
    return ", ".join(words)


def _key(key: dict[str, Any], algorithm: str | None = None) -> tuple[Any, ...]:
    values = {**key, "algorithm": algorithm or key["algorithm"]}
    return tuple(None if pd.isna(v) else v for v in (values[name] for name in KEYS))


def _of_seeds(keyed: KeyedCurve, seeds: Sequence[Any]) -> Curve:
    return Curve(keyed.ts, keyed.scores[[keyed.seeds.index(seed) for seed in seeds]])


def _paired(mine: KeyedCurve, other: KeyedCurve | None) -> tuple[Curve, Curve] | None:
    """Both over the seeds that both have; None if they cannot be laid beside each other."""
    shared = [seed for seed in mine.seeds if other and seed in other.seeds]
    if other is None or not shared or not np.array_equal(mine.ts, other.ts):
        return None
    return _of_seeds(mine, shared), _of_seeds(other, shared)


def matched(found: Sequence[KeyedCurve]) -> Iterator[tuple[KeyedCurve, tuple[Curve, Curve]]]:
    """The whole curves whose matched baseline is here, each with the pair over shared seeds."""
    by_key = {_key(curve.key): curve for curve in found}
    for mine in found:
        name = registry.matched_baseline(mine.key["algorithm"])
        pair = _paired(mine, by_key.get(_key(mine.key, name)) if name else None)
        if pair is not None and {0.0, 1.0} <= set(mine.ts):
            yield mine, pair


def _against_baseline(key: dict[str, Any], pair: tuple[Curve, Curve] | None) -> dict[str, Any]:
    """The gain over the matched baseline, over the seeds that both have."""
    name = registry.matched_baseline(key["algorithm"])
    columns = [f"{name}{end}" for name in ("gain", "area_below") for end in ("", *_SUFFIXES)]
    numbers: dict[str, Any] = dict.fromkeys(columns, np.nan)
    if pair is None:
        return {"baseline": name, **numbers, "break_even": ""}
    difference = gain(*pair)
    over, below = difference.interval("AUC"), difference.interval(area_below)
    values = [getattr(i, end) for i in (over, below) for end in ("plain", *_ENDS)]
    numbers.update(zip(columns, values, strict=True))
    return {"baseline": name, **numbers, "break_even": str(break_even(difference))}


def _note(curve: Curve, algorithm: str, against: dict[str, Any]) -> str:
    notes = []
    if np.ptp(curve.scores, axis=-1).max() == 0 and not trait(algorithm, "supervised"):
        perfect = curve.scores.min() == 1
        notes.append("flat at 1" if perfect else "FLAT: do its unlabeled data do anything?")
    if against["baseline"] and not against["break_even"]:
        notes.append(f"{against['baseline']} was not run on these seeds and t")
    return "; ".join(notes)


def trait(algorithm: str, name: str) -> Any:
    """A class attribute of an algorithm, given as a spec; None where the algorithm is not known
    here.
    """
    plain, _ = parse(algorithm)
    if not registry.is_here("algorithm", plain):
        return None
    return getattr(registry.algorithm(plain), name, None)
