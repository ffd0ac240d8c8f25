"""Tables of metrics: of any results, and of a store with the gain over the baseline."""

import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustssl import registry
from robustssl.compare import area_below, break_even, gain
from robustssl.curve import Curve, metrics_of
from robustssl.errors import InputError
from robustssl.results import KEYS, KeyedCurve, curves, label, read


def metrics(
    path: str | Path,
    convention: str = "definition",
    *,
    score: str = "accuracy",
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
                interval = Curve(ts, scores).interval(metric)
                values |= {f"{name}_{end}": getattr(interval, end) for end in _ENDS}
        for place, i in enumerate(ids):
            rows[i] = {**found[i].key, **{name: value[place] for name, value in values.items()}}
    return pd.DataFrame([rows[i] for i in sorted(rows)])


_ENDS = ("estimate", "low", "high")


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
            "no curve holds both t = 0 and t = 1; what tells curves apart is "
            f"{', '.join(found[0].key) if found else 'nothing'}"
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
        return "n/a" if np.isnan(value) else f"{value:.3f}"
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
    baseline.
    """
    table = metric_table(found, intervals=True)
    by_key = {_task(curve.key): curve for curve in found}
    more = []
    for key in table[[*KEYS]].to_dict("records"):
        keyed = by_key[_task(key)]
        curve = Curve(keyed.ts, keyed.scores)
        floor = curve.noise_floor()
        more.append(
            {
                "seeds": curve.seeds,
                "EVM_floor": floor["EVM"],
                "VS_floor": floor["VS"],
                "p_depends_on_t": curve.dependence(),
                **_against_baseline(curve, key, by_key),
                "note": _note(curve, key["algorithm"]),
            }
        )
    return pd.concat([table, pd.DataFrame(more)], axis=1)


def _task(key: dict[str, Any], algorithm: str | None = None) -> tuple[Any, ...]:
    values = {**key, "algorithm": algorithm or key["algorithm"]}
    return tuple(None if pd.isna(v) else v for v in (values[name] for name in KEYS))


def _against_baseline(
    curve: Curve, key: dict[str, Any], by_key: dict[tuple[Any, ...], KeyedCurve]
) -> dict[str, Any]:
    name = trait(key["algorithm"], "baseline")
    columns = ("gain", *(f"gain_{end}" for end in _ENDS), "area_below")
    numbers: dict[str, Any] = dict.fromkeys(columns, np.nan)
    other = by_key.get(_task(key, name)) if name else None
    if other is None or other.scores.shape != curve.scores.shape:
        return {"baseline": name, **numbers, "break_even": ""}
    difference = gain(curve, Curve(other.ts, other.scores))
    over, below = difference.interval("AUC"), difference.interval(area_below)
    values = (over.plain, over.estimate, over.low, over.high, below.plain)
    numbers.update(zip(columns, values, strict=True))
    return {"baseline": name, **numbers, "break_even": str(break_even(difference))}


def _note(curve: Curve, algorithm: str) -> str:
    if np.ptp(curve.scores) == 0 and not trait(algorithm, "supervised"):
        return "FLAT: do its unlabeled data do anything?"
    return ""


def trait(algorithm: str, name: str) -> Any:
    """A class attribute of an algorithm, given as a spec; None where the algorithm is not known
    here.
    """
    plain, _ = registry.parse(algorithm)
    if not registry.is_here("algorithm", plain):
        return None
    return getattr(registry.algorithm(plain), name, None)
