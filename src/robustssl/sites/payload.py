"""What the pages compute with: of every curve the scores by seed and its metrics.

Expected scores under any density of t, gains, ranks and their intervals over tasks follow from the
scores, by the rule of `robustssl.analysis.tasks`; `static/rule.js` computes it in the browser.

How a page gets its data. `pack.packed` splits the payload into files of JavaScript, since a page
from disk cannot fetch. Every page loads the first of them, the others when it needs them:

    assets/data.js            tasks, methods, curves, and the first score of every curve by seed
    assets/score-NAME.js      another score of every curve by seed
    assets/metrics-NAME.js    metrics of a score, by curve, with their intervals

In a page `DATA` (page.js) is the payload as `payload` returns it, but that `curve.scores[name]` is
there once the score is loaded, and its `metrics` once these are. `whenLoaded(parts, then)`
(load.js) adds the script tags that lack and calls `then`, at once where nothing lacks; parts are
named by `scoresPart(name)` and `metricsPart(name)`.
"""

import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from robustssl.analysis.beside import without_mix
from robustssl.analysis.curves import KeyedCurve, curves, matched
from robustssl.analysis.metrics import CONVENTIONS, metrics_of
from robustssl.analysis.table import metric_table, targets_of
from robustssl.cell import Task, data_in_words, task_names
from robustssl.records import catalog
from robustssl.records.frame import is_older, scored
from robustssl.records.record import SCORES
from robustssl.spec import parse

_CONVENTIONS = ("definition", "published")


def payload(good: pd.DataFrame) -> dict[str, Any]:
    """Of the records that count all that the pages show, as JSON takes it."""
    first = catalog.shared_score(good.environment.unique())
    names = sorted(SCORES, key=lambda score: score != first)
    found = {score: _whole_curves(good, score) for score in names}
    every = {(c.place, c.algorithm): c for part in found.values() for c in part}
    ids = {where: i for i, where in enumerate(every)}
    tasks, methods, grids, seeds = _Ids(), _Ids(), _Ids(), _Ids()
    rows = [
        {
            "task": tasks[curve.task, curve.versions],
            "method": methods[curve.name],
            **_against(curve, ids),
            "older": curve.older,
            "seconds": curve.seconds,
            "scores": {},
        }
        for curve in every.values()
    ]
    for score, part in found.items():
        for curve, numbers in zip(part, _metrics(part), strict=True):
            rows[ids[curve.place, curve.algorithm]]["scores"][score] = {
                "grid": grids[tuple(curve.ts.tolist())],
                "seeds": seeds[curve.seeds],
                "values": curve.scores.tolist(),
                "rows": None if np.isnan(curve.rows) else int(curve.rows),
                "identical": False,
                "metrics": numbers,
            }
        for curve, pair in matched(part):
            mine = rows[ids[curve.place, curve.algorithm]]["scores"][score]
            mine["identical"] = bool(pair.gain.ties and pair.gain.ties.identical)
    return {
        "scores": [score for score in names if found[score]],
        "conventions": {name: list(CONVENTIONS[name]) for name in _CONVENTIONS},
        "grids": [list(grid) for grid in grids],
        "seeds": [list(found) for found in seeds],
        "tasks": _describe_tasks(list(tasks), list(every.values())),
        "methods": _describe_methods(list(methods), list(every.values())),
        "curves": rows,
    }


class _Ids(dict[Any, int]):
    """Numbers things as they come."""

    def __missing__(self, thing: Any) -> int:
        self[thing] = len(self)
        return self[thing]


def _whole_curves(good: pd.DataFrame, score: str) -> list[KeyedCurve]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of curves that lack the score, or a point
        return [curve for curve in curves(scored(good, score)) if curve.is_whole]


def _against(curve: KeyedCurve, ids: Mapping[Any, int]) -> dict[str, Any]:
    """The baseline that a curve is compared with, and its name; None if it is not known."""
    name = curve.method.baseline if curve.method else None
    place = ids.get((curve.place, name)) if name else None
    return {"baseline": place, "baselineName": name and parse(name)[0]}


def _metrics(found: Sequence[KeyedCurve]) -> list[dict[str, list[list[Any]]]]:
    """Of each curve the metrics: value of the mean curve, estimate with its interval, note."""
    if not found:
        return []
    tables = [metric_table(found, name, intervals=True).to_dict("records") for name in _CONVENTIONS]
    return [
        {
            name: [
                [*(_plain(row[f"{metric}{end}"]) for end in _ENDS), str(row[f"{metric}_note"])]
                for metric in metrics_of(name)
            ]
            for name, row in zip(_CONVENTIONS, rows, strict=True)
        }
        for rows in zip(*tables, strict=True)
    ]


_ENDS = ("", "_estimate", "_low", "_high")


def _plain(value: float) -> float | None:
    """A number that is shown to three decimals, None where it is undefined."""
    return round(value, 6) if math.isfinite(value) else None


def _describe_tasks(
    places: Sequence[tuple[Task, tuple[int, ...]]], found: Sequence[KeyedCurve]
) -> list[dict[str, Any]]:
    names = task_names(task for task, _ in places)
    said = {(curve.task, curve.versions): curve for curve in found}
    tasks = [task for task, _ in places]
    short = _short_names([names[task] for task in tasks], tasks)
    mixes = {_without_mix(*place): i for i, place in enumerate(places)}
    return [
        {
            "name": names[task] + (_versions(task, versions) if tasks.count(task) > 1 else ""),
            "short": words,
            "environment": task.environment,
            "inconsistency": task.inconsistency,
            "kind": _kind(task),
            "access": task.access,
            "mix": without_mix(task.environment)[1],
            "otherMix": mixes.get(_with_other_mix(task, versions)),
            "dataset": task.dataset,
            "drawn": said[task, versions].drawn,
            "data": said[task, versions].data,
            "labels": task.labels,
            "versions": list(versions),
            "older": is_older("environment", task.environment, versions[0])
            or is_older("dataset", task.dataset, versions[1]),
        }
        for (task, versions), words in zip(places, short, strict=True)
    ]


def _short_names(names: Sequence[str], tasks: Sequence[Task]) -> list[str]:
    """Names for a narrow place: of dataset and environment, with the number of labels where that
    tells two apart; else the whole name.
    """
    found = [f"{data_in_words(task.dataset)}, {task.inconsistency}" for task in tasks]
    longer = [f"{words}, {task.labels} labels" for words, task in zip(found, tasks, strict=True)]
    return [
        next((name for name in (a, b) if found.count(name) + longer.count(name) == 1), whole)
        for a, b, whole in zip(found, longer, names, strict=True)
    ]


def _without_mix(task: Task, versions: tuple[int, ...]) -> tuple[Any, ...]:
    environment, mix = without_mix(task.environment)
    return replace(task, environment=environment), versions, mix


def _with_other_mix(task: Task, versions: tuple[int, ...]) -> tuple[Any, ...]:
    *place, mix = _without_mix(task, versions)
    return (*place, "add" if mix == "replace" else "replace")


def _versions(task: Task, versions: Sequence[int]) -> str:
    names = [parse(spec)[0] for spec in (task.environment, task.dataset)]
    told = ", ".join(f"{name} {number}" for name, number in zip(names, versions, strict=True))
    return f" (versions: {told})"


def _kind(task: Task) -> str:
    """The kind of environment: its name if it is built in, with the access that no method has."""
    name = parse(task.environment)[0]
    kind = name if catalog.version("environment", name) else "other"
    return f"{kind}, {task.access}" if task.access else kind


def _describe_methods(names: Sequence[str], found: Sequence[KeyedCurve]) -> list[dict[str, Any]]:
    methods = {curve.name: curve.method for curve in found if curve.method}
    return [
        {
            "name": name,
            "family": methods[name].family,
            "supervised": methods[name].supervised,
            "targets": list(targets_of(methods[name].spec)),
            **_paper(methods[name].spec),
            "look": _look(methods[name].spec),
        }
        for name in names
    ]


def _paper(spec: str) -> dict[str, Any]:
    """Year, authors and address of the paper that a built-in method cites; None of others."""
    about = catalog.entry("algorithm", parse(spec)[0])
    authors, year, address = (about and about.paper) or (None, None, None)
    return {"year": year, "authors": authors, "paper": address}


def _look(spec: str) -> int:
    """The place of a method in the order of colours; of one that is not built in, by its name."""
    name = parse(spec)[0]
    return catalog.looks().get(name, int(hashlib.sha256(spec.encode()).hexdigest()[:8], 16))
