"""The curves of the leaderboard by method and task, and means over tasks by the one rule."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from table import Number

from robustssl.analysis.curve import Curve
from robustssl.analysis.curves import KeyedCurve, paired
from robustssl.analysis.metrics import Metric
from robustssl.analysis.tasks import Part, holm, leave_one_out, over_tasks, p_value
from robustssl.cell import Task
from robustssl.method import Method
from robustssl.spec import parse, spell

DATA = {"tabular": "tables", "image": "images", "text": "texts"}
ENVIRONMENTS = {
    "distribution": "other distribution",
    "label": "unknown classes",
    "feature": "missing features",
}
BASELINE, ORACLE, CEILING = "matched baseline", "oracle", "ceiling"


@dataclass(frozen=True, order=True)
class Place:
    """A task, with the name by which its rows are drawn and the kind of its data."""

    task: Task
    drawn: str
    data: str

    @property
    def environment(self) -> str:
        return parse(self.task.environment)[0]


Values = dict[Place, Part]  # a number for each task and seed


def mean(values: Values) -> float:
    return float(over_tasks(list(values.values())).estimate)


def number(values: Values) -> Number:
    """The mean of differences over tasks."""
    parts = list(values.values())
    return Number(over_tasks(parts), p_value(parts), leave_one_out(parts), len(parts))


def level(values: Values) -> Number:
    """The mean of scores over tasks; it has no range, for it depends on which tasks there are."""
    parts = list(values.values())
    return Number(over_tasks(parts, bounds=(0.0, 1.0)), np.nan, None, len(parts), ".3f")


def corrected(numbers: Mapping[Any, Number]) -> dict[Any, Number]:
    """The numbers; those that are left after Holm's correction over all of them are sure."""
    sure = holm([each.p for each in numbers.values()])
    return {k: replace(v, sure=bool(s)) for (k, v), s in zip(numbers.items(), sure, strict=True)}


def only(values: Values, data: Collection[str], environments: Any = ENVIRONMENTS) -> Values:
    """The values on some kinds of data in some environments."""
    return {p: v for p, v in values.items() if p.data in data and p.environment in environments}


def difference(mine: Values, other: Values) -> Values:
    """By task and seed, on the tasks that both have."""
    return _mix((mine, other), (1.0, -1.0))


def average(several: Sequence[Values]) -> Values:
    """By task and seed, on the tasks that all have."""
    return _mix(several, [1 / len(several)] * len(several))


def _mix(several: Sequence[Values], weights: Sequence[float]) -> Values:
    mixed: Values = {}
    for place in (p for p in several[0] if all(p in values for values in several)):
        parts = [values[place] for values in several]
        seeds = tuple(s for s in parts[0].seeds if all(s in part.seeds for part in parts))
        rows = [part.values[[part.seeds.index(s) for s in seeds]] for part in parts]
        mixed[place] = Part(place.drawn, seeds, np.tensordot(weights, rows, 1))
    return mixed


def at(t: float) -> Metric:
    """The score at a point of the grid."""
    return Metric(lambda ts, scores: scores[..., int(np.flatnonzero(ts == t)[0])], None)


class Board:
    """Curves by the name of their method, their place, and what they see (None: as usual)."""

    def __init__(self, found: Iterable[KeyedCurve]) -> None:
        self.curves: dict[tuple[str, Place, str | None], KeyedCurve] = {}
        self.methods: dict[str, Method] = {}
        for curve in found:
            name, options = parse(curve.task.environment)
            options.pop("access", None)
            task = replace(curve.task, environment=spell(name, options))
            place = Place(task, curve.drawn, curve.data)
            self.curves[curve.name, place, curve.task.access] = curve
            self.methods[curve.name] = curve.method
        usual = {key: curve for key, curve in self.curves.items() if key[2] is None}
        self.places = sorted({place for _, place, _ in usual})
        self.learners = sorted(m for m, about in self.methods.items() if not about.supervised)
        self.baselines = sorted(set(self.methods) - set(self.learners))
        self._by_spec = {(c.algorithm, place): c for (_, place, _), c in usual.items()}
        self._minus = cache(self._difference)

    def scores(
        self, name: str, metric: Any = "AUC", data: Any = DATA, environments: Any = ENVIRONMENTS
    ) -> Values:
        places = only(dict.fromkeys(self.places), data, environments)
        found = {place: self.curves.get((name, place, None)) for place in places}
        return {
            place: Part(place.drawn, c.seeds, c.curve.pseudo_values(metric), c.curve.ties)
            for place, c in found.items()
            if c is not None
        }

    def levels(self, *where: Any) -> dict[str, Values]:
        """The scores of the methods that have all of the tasks, best first."""
        every = {name: self.scores(name, *where) for name in sorted(self.methods)}
        most = max(map(len, every.values()))
        whole = {name: values for name, values in every.items() if len(values) == most}
        return dict(sorted(whole.items(), key=lambda item: -mean(item[1])))

    def against(
        self,
        name: str,
        other: str,
        metric: Any = "AUC",
        data: Any = DATA,
        environments: Any = ENVIRONMENTS,
    ) -> Values:
        """The method minus another, or minus its BASELINE, ORACLE or CEILING, by task and seed;
        where the metric is None, at every t.
        """
        found: Values = {}
        for place in only(dict.fromkeys(self.places), data, environments):
            if pair := self._minus(name, other, place):
                seeds, gain = pair
                values = gain.scores if metric is None else gain.pseudo_values(metric)
                found[place] = Part(place.drawn, seeds, values, gain.ties)
        return found

    def gains(self, *where: Any) -> dict[str, Values]:
        """What the methods gain over their baselines; one without these tasks is left out."""
        every = {name: self.against(name, BASELINE, *where) for name in self.learners}
        return {name: values for name, values in every.items() if values}

    def _difference(
        self, name: str, other: str, place: Place
    ) -> tuple[tuple[Any, ...], Curve] | None:
        """The seeds that both have, and the difference of their curves."""
        mine = self.curves.get((name, place, None))
        if mine is None:
            return None
        if other == BASELINE:
            theirs = self._by_spec.get((mine.method.baseline, place))
        elif other in (ORACLE, CEILING):
            theirs = self.curves.get((name, place, other))
        else:
            theirs = self.curves.get((other, place, None))
        pair = paired(mine, theirs)
        return pair and (tuple(s for s in mine.seeds if s in theirs.seeds), pair.gain)
