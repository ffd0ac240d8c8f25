"""What the pages must compute from a payload, computed by Python: input of equality.test.js."""

from collections import defaultdict
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from robustssl.analysis.compare import _first_negative
from robustssl.analysis.density import hat_weights
from robustssl.analysis.interval import Interval, Ties
from robustssl.analysis.labels import Labels, median
from robustssl.analysis.tasks import Part, holm, leave_one_out, over_tasks, p_value, ranks
from robustssl.analysis.worth import worth_of

_HAND = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
_DENSITIES: tuple[dict[str, Any], ...] = (
    {"kind": "beta", "a": 1, "b": 1},
    {"kind": "beta", "a": 2, "b": 5},
    {"kind": "beta", "a": 0.3, "b": 0.4},
    {"kind": "hand", "ts": _HAND, "values": [0, 1, 0.2, 0, 0.7, 0.1]},
)
Payload = dict[str, Any]


def cases(payload: Payload) -> list[dict[str, Any]]:
    """Several choices of tasks, for the first score under several densities, for the last under
    one of them.
    """
    first, *others = payload["scores"]
    wanted = [*product([first], _DENSITIES), *product(others[-1:], _DENSITIES[1:2])]
    found = []
    for score, density in wanted:
        weights = [_weights(np.array(grid), density) for grid in payload["grids"]]
        for tasks in _selections(payload["tasks"]):
            rows = _rows(payload, score, tasks, weights)
            found.append({"score": score, "tasks": tasks, "density": density, "rows": rows})
    return found


def worth_cases() -> list[dict[str, Any]]:
    """What gains are worth in labels: several, one without an interval, and beyond either end."""
    rng, counts = np.random.default_rng(0), [4, 10, 25, 100]
    found = []
    for seeds, size in product((1, 2, 5), (-0.5, -0.1, 0.0, 0.02, 0.1, 0.5)):
        for held in counts[1:3]:
            gains = size + 0.02 * rng.normal(size=seeds) * (size != 0)
            curves = 0.5 + 0.08 * np.log2(counts) + 0.03 * rng.normal(size=(seeds, len(counts)))
            if size < 0:
                curves[:, 2] = curves[:, 0]  # falls, and is made to rise
            told = worth_of(gains, curves, counts, held)
            asked = {"gains": gains.tolist(), "curves": curves.tolist()}
            ends = (told.estimate, told.low, told.high, told.least, told.most)
            found.append({**asked, "counts": counts, "held": held, "worth": [*map(_end, ends)]})
    return found


def median_cases() -> list[dict[str, Any]]:
    """Medians of what gains are worth, of curves that end before they reach the score, too."""
    rng = np.random.default_rng(1)
    found = []
    for size in (1, 2, 3, 4, 7, 8) * 6:
        share = rng.uniform()
        mine = [
            Labels(np.inf * rng.choice([-1, 1]), least=-float(rng.integers(5)), most=96.0 * (k % 2))
            if rng.uniform() < share
            else Labels(float(rng.normal()), least=-3.0, most=40.0)
            for k in range(size)
        ]
        told = median(mine)
        asked = [[*map(_end, (one.estimate, one.least, one.most))] for one in mine]
        found.append({"of": asked, "median": [*map(_end, (told.estimate, told.least, told.most))]})
    return found


def holm_cases() -> list[dict[str, Any]]:
    """Which of some hypotheses are rejected; some p-values are equal, some unknown."""
    rng = np.random.default_rng(0)
    found = []
    for size in (1, 2, 5, 40, 40, 40):
        ps = np.round(rng.uniform(size=size) ** 6, 3)
        ps[rng.uniform(size=size) < 0.1] = np.nan
        found.append({"ps": [*map(_number, ps)], "rejected": holm(ps).tolist()})
    return found


def _end(value: float) -> Any:
    return str(value) if np.isinf(value) else _number(value)


def odd_payload() -> Payload:
    """A small payload with whatever is rare in real ones: seeds and grids that differ, one seed,
    scores that are equal for all seeds, predictions that are those of the baseline, no baseline.
    """
    rng = np.random.default_rng(0)
    grids, seeds = [[0, 0.5, 1], [0, 0.1, 0.3, 1]], [[0, 1, 2, 3], [3, 2, 5], [7], [0, 1]]
    tasks = [
        {"drawn": drawn, "kind": kind, "access": None}
        for drawn, kind in zip("aabbcdef", "lflflfff", strict=True)
    ]
    curves = []
    for task, (method, baseline) in product(range(len(tasks)), enumerate([None, 0, 0, 0, None])):
        grid, who = int(task == 5), 2 if task == 6 else int(rng.integers(2))
        if method == 2 and task % 3 == 0:
            who = 3
        values = rng.integers(12, 20, (len(seeds[who]), len(grids[grid]))) / 20
        if task in (3, 4):
            values = np.full_like(values, [1.0, 0.9, 1.0, 0.85, 0.0][method])
        here, same = task != 1 or method != 3, method == 2 and task == 4
        curves.append(
            {
                "task": task,
                "method": method,
                "baseline": None if baseline is None else 5 * task + baseline if here else None,
                "baselineName": None,
                "older": False,
                "seconds": 0.1,
                "scores": {
                    "accuracy": _odd_score(grid, who, values, 20 + task, same),
                    "auroc": _odd_score(grid, who, values**2, None, same),
                },
            }
        )
    return {
        "scores": ["accuracy", "auroc"],
        "conventions": {"definition": []},
        "grids": grids,
        "seeds": seeds,
        "tasks": tasks,
        "methods": [{"name": f"m{k}"} for k in range(5)],
        "curves": curves,
    }


def _odd_score(grid: int, seeds: int, values: Any, rows: int | None, same: bool) -> Payload:
    found = {"grid": grid, "seeds": seeds, "values": values.tolist(), "rows": rows}
    return {**found, "identical": same, "metrics": {"definition": []}}


def _selections(tasks: list[Payload]) -> list[list[int]]:
    """All ordinary tasks; those of each environment; those of the dataset that has most; the first
    eight alone.
    """
    ordinary = [i for i, task in enumerate(tasks) if task["access"] is None]
    groups: dict[str, dict[str, list[int]]] = {"kind": {}, "drawn": {}}
    for i, (name, group) in product(ordinary, groups.items()):
        group.setdefault(tasks[i][name], []).append(i)
    most = max(groups["drawn"].values(), key=len)
    found = [ordinary, *groups["kind"].values(), most, *([i] for i in ordinary[:8])]
    return [list(group) for group in dict.fromkeys(map(tuple, found))]


def _rows(payload: Payload, score: str, tasks: list[int], weights: Any) -> list[Payload]:
    """A row for each method that was run on one of the tasks."""
    curves = {
        (curve["method"], curve["task"]): curve
        for curve in payload["curves"]
        if score in curve["scores"]
    }
    methods = sorted({method for method, task in curves if task in tasks})
    found = {m: [curves[m, task] for task in tasks if (m, task) in curves] for m in methods}
    whole = _whole(payload, score, tasks, found)
    rank = _mean_ranks(payload, score, {m: found[m] for m in whole}, weights)
    return [
        {
            "method": method,
            **_expected(payload, score, found[method], weights),
            **_gain(payload, score, found[method], weights),
            "meanRank": rank.get(method),
        }
        for method in methods
    ]


def _weights(ts: Any, density: Payload) -> Any:
    if density["kind"] == "beta":
        return hat_weights(ts, stats.beta(density["a"], density["b"]))
    return hat_weights(ts, np.interp(ts, density["ts"], density["values"]))


def _expected(payload: Payload, score: str, curves: list[Payload], weights: Any) -> Payload:
    parts = []
    for curve in curves:
        dataset, found = payload["tasks"][curve["task"]]["drawn"], curve["scores"][score]
        values = np.array(found["values"]) @ weights[found["grid"]]
        ties = Ties(np.nan if found["rows"] is None else found["rows"])
        parts.append(Part(dataset, tuple(payload["seeds"][found["seeds"]]), values, ties))
    return {"ea": _numbers(over_tasks(parts, bounds=(0, 1))), "eaRange": leave_one_out(parts)}


def _gain(payload: Payload, score: str, curves: list[Payload], weights: Any) -> Payload:
    """The gain and its break-even where every curve has a baseline on its grid; else nothing."""
    pairs = [(curve, _difference(payload, score, curve)) for curve in curves]
    if any(part is None for _, part in pairs):
        return {"gain": None, "p": None, "gainRange": None, "breakEven": None}
    grids = [curve["scores"][score]["grid"] for curve, _ in pairs]
    whole = [part for _, part in pairs if part is not None]
    parts = [
        Part(part.dataset, part.seeds, part.values @ weights[grid], part.ties)
        for part, grid in zip(whole, grids, strict=True)
    ]
    return {
        "gain": _numbers(over_tasks(parts, bounds=(-1, 1))),
        "p": _number(p_value(parts)),
        "gainRange": leave_one_out(parts),
        "breakEven": _break_even(np.array(payload["grids"][grids[0]]), whole)
        if len(set(grids)) == 1
        else None,
    }


def _difference(payload: Payload, score: str, curve: Payload) -> Part | None:
    """A curve minus its baseline's, over the seeds that both have: values (seeds, t)."""
    if curve["baseline"] is None:
        return None
    mine = curve["scores"][score]
    other = payload["curves"][curve["baseline"]]["scores"].get(score)
    if other is None or other["grid"] != mine["grid"]:
        return None
    ours, theirs = (payload["seeds"][found["seeds"]] for found in (mine, other))
    shared = [seed for seed in ours if seed in theirs]
    if not shared:
        return None
    values = np.array([mine["values"][ours.index(seed)] for seed in shared])
    values = values - np.array([other["values"][theirs.index(seed)] for seed in shared])
    rows = np.nan if mine["rows"] is None else mine["rows"]
    ties = Ties(rows, difference=True, identical=mine["identical"])
    return Part(payload["tasks"][curve["task"]]["drawn"], tuple(shared), values, ties)


def _break_even(ts: Any, parts: list[Part]) -> list[Any]:
    band = over_tasks(parts, bounds=(-1, 1))
    ends = [_first_negative(ts, band.estimate)]
    if np.isnan(band.low).any():
        ends += [np.nan, np.nan]
    else:
        ends += [_first_negative(ts, band.low), _first_negative(ts, band.high)]
    return ["none" if end is None else _number(end) for end in ends]


def _whole(
    payload: Payload, score: str, tasks: list[int], found: dict[int, list[Payload]]
) -> list[int]:
    """The methods that have all tasks, and of each as many seeds as any other."""
    counts = {
        (method, curve["task"]): len(payload["seeds"][curve["scores"][score]["seeds"]])
        for method, curves in found.items()
        for curve in curves
    }
    most = {
        task: max((n for (_, other), n in counts.items() if other == task), default=0)
        for task in tasks
    }
    return [m for m in found if all(counts.get((m, task)) == most[task] for task in tasks)]


def _mean_ranks(
    payload: Payload, score: str, found: dict[int, list[Payload]], weights: Any
) -> dict[int, Any]:
    parts = defaultdict(list)
    for curves in zip(*found.values(), strict=True):
        scores = [curve["scores"][score] for curve in curves]
        seeds = [payload["seeds"][part["seeds"]] for part in scores]
        shared = [seed for seed in seeds[0] if all(seed in other for other in seeds)]
        if not shared:
            return {}
        values = [
            [np.dot(part["values"][own.index(seed)], weights[part["grid"]]) for seed in shared]
            for part, own in zip(scores, seeds, strict=True)
        ]
        dataset = payload["tasks"][curves[0]["task"]]["drawn"]
        for method, row in zip(found, ranks(np.array(values)), strict=True):
            parts[method].append(Part(dataset, tuple(shared), row))
    return {m: _numbers(over_tasks(parts[m], bounds=(1, len(found)))) for m in found}


def _numbers(interval: Interval) -> list[Any]:
    return [*map(_number, (interval.estimate, interval.low, interval.high)), interval.note]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
