"""What the page computes with: of every curve its mean and the covariance of its points over seeds,
from which any expected accuracy, its interval and its gain follow at once, however many seeds.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from robustssl import registry
from robustssl.analysis.compare import break_even, gain
from robustssl.analysis.curve import Curve
from robustssl.analysis.metrics import CONVENTIONS, metrics_of
from robustssl.analysis.table import TASK, matched, metric_table, task_name, trait
from robustssl.records.files import KEYS, KeyedCurve, curves
from robustssl.records.record import SCORES
from robustssl.reports.style import looks, style
from robustssl.spec import parse

_CONVENTIONS = ("definition", "published")


def payload(frame: pd.DataFrame) -> dict[str, Any]:
    """Of the successes of a store all that the page shows, as JSON takes it."""
    names = _names(frame)
    tasks, algorithms = _Ids(), _Ids()
    grids, rows = _Ids(), dict[tuple[int, int], dict[str, Any]]()
    for (task, algorithm), seconds in _seconds(frame).items():
        rows[tasks[task], algorithms[names[algorithm]]] = {"seconds": seconds, "scores": {}}
    for score in SCORES:
        for keyed, summary in _summaries(frame, score):
            where = tasks[_task(keyed.key)], algorithms[names[keyed.key["algorithm"]]]
            rows[where]["scores"][score] = {"grid": grids[tuple(keyed.ts.tolist())], **summary}
    from scipy.special import stdtrit

    return {
        "scores": [s for s in SCORES if any(s in row["scores"] for row in rows.values())],
        "conventions": {name: list(CONVENTIONS[name]) for name in _CONVENTIONS},
        "quantiles": [float(stdtrit(df, 0.975)) for df in range(1, 201)],
        "grids": [list(grid) for grid in grids],
        "tasks": [_describe_task(task) for task in tasks],
        "algorithms": _describe_algorithms(list(algorithms)),
        "curves": [{"task": t, "algorithm": a, **row} for (t, a), row in rows.items()],
    }


def _names(frame: pd.DataFrame) -> dict[str, str]:
    """A method has the same name whatever its budget, unless a task has it with two of them."""
    short = {name: registry.without_budget(name) for name in frame.algorithm.unique()}
    seen = frame.drop_duplicates([*KEYS]).assign(algorithm=lambda rows: rows.algorithm.map(short))
    twice = set(seen.algorithm[seen.duplicated([*KEYS])])
    return {name: name if method in twice else method for name, method in short.items()}


class _Ids(dict[Any, int]):
    """Numbers things as they come."""

    def __missing__(self, thing: Any) -> int:
        self[thing] = len(self)
        return self[thing]


def _task(key: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(None if pd.isna(key[name]) else key[name] for name in TASK)


def _seconds(frame: pd.DataFrame) -> dict[tuple[tuple[Any, ...], str], float]:
    means = frame.groupby([*KEYS], dropna=False, sort=True).seconds.mean()
    names = means.index.to_frame(index=False)
    tasks = [_task(row) for row in names.to_dict("records")]
    return dict(zip(zip(tasks, names.algorithm, strict=True), map(float, means), strict=True))


def _summaries(frame: pd.DataFrame, score: str) -> list[tuple[KeyedCurve, dict[str, Any]]]:
    wanted = frame.assign(score=frame[score]).dropna(subset="score")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is left out is said on the page
        found = [c for c in curves(wanted[[*KEYS, "t", "seed", "score"]]) if {0, 1} <= set(c.ts)]
        if not found:
            return []
        metrics = {name: metric_table(found, name, intervals=True) for name in _CONVENTIONS}
    pairs = {id(mine): pair for mine, pair in matched(found)}
    return [
        (
            keyed,
            {
                **_moments(Curve(keyed.ts, keyed.scores)),
                "flat": bool(np.ptp(keyed.scores, axis=-1).max() == 0),
                "metrics": {
                    name: _numbers(table.iloc[i], list(metrics_of(name)))
                    for name, table in metrics.items()
                },
                "gain": _gain(pairs.get(id(keyed))),
            },
        )
        for i, keyed in enumerate(found)
    ]


def _moments(curve: Curve) -> dict[str, Any]:
    """The mean, and the lower half of the covariance over seeds, row by row."""
    if curve.seeds == 1:
        return {"n": 1, "mean": curve.mean.tolist(), "cov": None}
    cov = np.atleast_2d(np.cov(curve.scores.T))
    return {
        "n": curve.seeds,
        "mean": curve.mean.tolist(),
        "cov": cov[np.tril_indices(len(cov))].tolist(),
    }


def _gain(pair: tuple[Curve, Curve] | None) -> dict[str, Any] | None:
    if pair is None:
        return None
    difference = gain(*pair)
    at = break_even(difference)
    ends = [None if t is None or np.isnan(t) else t for t in (at.estimate, at.low, at.high)]
    return {**_moments(difference), "breakEven": ends}


def _numbers(row: pd.Series, names: Sequence[str]) -> list[list[float | None]]:
    """Of each metric the value of the mean curve, and its estimate with an interval."""

    def plain(value: Any) -> float | None:
        return float(value) if np.isfinite(value) else None

    ends = ("", "_estimate", "_low", "_high")
    return [[plain(row[f"{name}{end}"]) for end in ends] for name in names]


def _describe_task(task: tuple[Any, ...]) -> dict[str, Any]:
    environment, dataset, labels = task[:3]
    name, options = parse(environment)
    reference = _REFERENCES.get(str(options.get("access")))
    kind = name if name in registry.names("environment") else "other"
    return {
        "name": task_name(task),
        "environment": environment,
        "kind": f"{kind}, {reference}" if reference else kind,
        "reference": reference,
        "dataset": dataset,
        "data": registry.data_kind(dataset),
        "labels": None if labels is None else int(labels),
    }


def _describe_algorithms(names: Sequence[str]) -> list[dict[str, Any]]:
    with style():
        drawn = looks(names)
    return [
        {
            "name": name,
            "baseline": registry.matched_baseline(name),
            "supervised": bool(trait(name, "supervised")),
            "family": _family(name),
            "targets": sorted(trait(name, "targets") or ()),
            "colour": to_hex(drawn[name]["color"]),
            "dash": _DASH[drawn[name]["linestyle"]],
        }
        for name in names
    ]


_REFERENCES = {"consistent": "oracle", "labels": "ceiling"}  # which no method can have

_DASH = {"-": [], "--": [8, 4], "-.": [8, 3, 2, 3], ":": [2, 3]}


def _family(name: str) -> str:
    plain = parse(name)[0]
    if not registry.is_here("algorithm", plain):
        return "other"
    return "deep" if hasattr(registry.algorithm(plain), "fit_together") else "statistical"
