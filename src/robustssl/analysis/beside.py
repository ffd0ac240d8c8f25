"""Curves laid beside each other: of two scores, and with rows replaced or added."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from robustssl.analysis.curves import TASK, KeyedCurve, matched, paired
from robustssl.analysis.interval import Array
from robustssl.analysis.metrics import CONVENTIONS, Metric
from robustssl.analysis.table import NOT_KNOWN, against_baseline, as_columns
from robustssl.records.published import KEYS
from robustssl.spec import parse, spell

MIXES = ("replace", "add")
_METRICS = CONVENTIONS["definition"]


def with_score(table: pd.DataFrame, found: Sequence[KeyedCurve], score: str) -> pd.DataFrame:
    """A table of curves with columns of their second score, SCORE and SCORE_gain (over all t), nan
    where it is not known. `found` are the whole curves of that score.
    """
    pairs = {id(mine): pair for mine, pair in matched(found)}

    def row(keyed: KeyedCurve | None) -> dict[str, Any]:
        interval = keyed.curve.interval("AUC") if keyed else NOT_KNOWN
        against = against_baseline(pairs.get(id(keyed)))
        more = {f"{score}_{name}": value for name, value in against.items()}
        return {**as_columns(score, interval), **more}

    at = {tuple(curve.key[name] for name in KEYS): curve for curve in found}
    keys = table[[*KEYS]].astype(object).where(table[[*KEYS]].notna(), None)
    rows = [row(at.get(tuple(key))) for key in keys.itertuples(index=False)]
    return table.join(pd.DataFrame(rows, index=table.index))


def _loss(ts: Array, scores: Array) -> Array:
    return _METRICS["Acc0"](ts, scores) - _METRICS["AUC"](ts, scores)


loss = Metric(_loss)
"""The score at t = 0 minus the mean over all t."""


def replaced_and_added(found: Sequence[KeyedCurve]) -> pd.DataFrame:
    """Of each method on a task that was run with mix=add: its gain and its loss with rows replaced
    and with rows added, and the difference of the scores, added minus replaced, paired by seed.

    At t = 0 both are the same, so the loss with rows replaced is the loss with rows added plus the
    difference. A `ran_` column says whether a curve is there.
    """
    pairs = {id(mine): pair for mine, pair in matched(found)}
    curves = {(*_task_and_mix(curve), curve.algorithm): curve for curve in found if curve.is_whole}
    tasks = {task for task, mix, _ in curves if mix == "add"}
    methods = dict.fromkeys((task, name) for task, _, name in curves if task in tasks)
    rows = []
    for task, name in methods:
        both = {mix: curves.get((task, mix, name)) for mix in MIXES}
        first = next(curve for curve in both.values() if curve)
        if first.method is None or not first.method.supervised:
            gains = {mix: against_baseline(pairs.get(id(curve))) for mix, curve in both.items()}
            key = {**dict(zip(TASK, task, strict=True)), "algorithm": name, "method": first.name}
            rows.append({**key, **_sides(both["replace"], both["add"], gains)})
    return pd.DataFrame(rows)


def _task_and_mix(curve: KeyedCurve) -> tuple[tuple[Any, ...], str]:
    """The task of a curve as it is when rows are replaced, and whether they are."""
    environment, mix = without_mix(str(curve.key["environment"]))
    key = {**curve.key, "environment": environment}
    return tuple(key[name] for name in TASK), mix


def without_mix(environment: str) -> tuple[str, str]:
    """An environment (a spec) as it is when rows are replaced, and its mix."""
    name, options = parse(environment)
    mix = str(options.pop("mix", "replace"))
    return spell(name, options), mix


def _sides(
    replaced: KeyedCurve | None, added: KeyedCurve | None, gains: dict[str, Any]
) -> dict[str, Any]:
    pair = paired(added, replaced) if added else None
    curves = {"replace": replaced and replaced.curve, "add": added and added.curve}
    if pair is not None:
        curves = {"replace": pair.baseline, "add": pair.mine}  # over the seeds that both have
    row: dict[str, Any] = {"seeds": pair.gain.seeds if pair else np.nan}
    for mix, curve in curves.items():
        lost = curve.interval(loss) if curve else NOT_KNOWN
        more = {f"{mix}_{name}": value for name, value in gains[mix].items()}
        row |= {f"ran_{mix}": curve is not None, **more, **as_columns(f"{mix}_loss", lost)}
    return {**row, **as_columns("difference", pair.gain.interval("AUC") if pair else NOT_KNOWN)}
