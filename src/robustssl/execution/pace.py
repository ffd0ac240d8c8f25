"""What the groups of a study take, learned from those that were run."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from robustssl import registry
from robustssl.execution.groups import Group, is_net
from robustssl.execution.status import Place, place_of
from robustssl.records.record import Record
from robustssl.spec import parse


class Beside:
    """The mean seconds of groups beside their fits, such as for rows and scores. The slowest, one
    for each worker, do not count: the first group of a process imports and loads what later ones
    find there.
    """

    def __init__(self, workers: int) -> None:
        self._workers, self._count, self._total = workers, 0, 0.0
        self._slowest: list[float] = []

    def learn(self, seconds: float) -> None:
        self._count, self._total = self._count + 1, self._total + seconds
        self._slowest = sorted([*self._slowest, seconds])[-self._workers :]

    def mean(self) -> float:
        counted = self._count - len(self._slowest)
        if counted:
            return max(self._total - sum(self._slowest), 0.0) / counted
        return self._slowest[0] if self._slowest else 0.0


@lru_cache
def _names(method: str) -> tuple[Any, ...]:
    """What the seconds of a method may be known by: itself, its algorithm, and its kind, that is
    whether it is a net, and whether it sees unlabeled rows.
    """
    name, _ = parse(method)
    return method, (name,), (is_net(name), registry.about("algorithm", name).supervised)


class Pace:
    """What groups take: seconds of a fit by method, environment and dataset, and seconds beside
    fits by dataset, for nets and for others. `known` are the seconds of a cell in a store.
    """

    def __init__(self, known: Mapping[Place, float], workers: int) -> None:
        self._known, self._expected = dict(known), dict[Place, float]()
        self._fits: dict[Place, list[tuple[int, float]]] = defaultdict(list)
        self._beside: dict[tuple[bool, str], Beside] = defaultdict(lambda: Beside(workers))

    def learn(self, records: Sequence[Record], seconds: float) -> None:
        """A group was run; a process was at work on it for so many seconds. Of a failure it is not
        known how long its fits took: they count as all of it.
        """
        place = place_of(records[0].cell)
        failed = any(record.error is not None for record in records)
        fits = seconds if failed else sum(record.seconds for record in records)
        self._fits[place].append((len(records), fits))
        counted = self._fits[place][1:] or self._fits[place]
        self._known[place] = sum(s for _, s in counted) / sum(n for n, _ in counted)
        if not failed:
            self._beside[is_net(place[0]), place[2]].learn(max(seconds - fits, 0.0))

    def expect(self, group: Group, seconds: float) -> None:
        """A group that is not done yet is expected to take so many seconds."""
        self._expected[place_of(group[0])] = seconds / len(group)

    def knows(self, place: Place) -> bool:
        return place in self._known

    def among_others(self, place: Place) -> float:
        """The mean seconds of a cell of other methods in the same environment and dataset."""
        there = [x for other, x in self._known.items() if other[1:] == place[1:]]
        return sum(there) / len(there) if there else 0.0

    def each(self, places: Iterable[Place]) -> dict[Place, float | None]:
        """The seconds of a cell of each place; where none are known, the mean of the method
        elsewhere, of its algorithm with other options, or of its kind. None if there is none of
        these.
        """
        known = {**self._expected, **self._known}
        alike: dict[Any, list[float]] = defaultdict(list)
        for (method, *_), seconds in known.items():
            for name in _names(method):
                alike[name].append(seconds)
        mean = {name: sum(values) / len(values) for name, values in alike.items()}
        return {
            place: known.get(place, next(filter(None, map(mean.get, _names(place[0]))), None))
            for place in places
        }

    def beside(self, place: Place) -> float:
        """The seconds of a group beside its fits; of other datasets where it has none."""
        net, dataset = is_net(place[0]), place[2]
        if (net, dataset) in self._beside:
            return self._beside[net, dataset].mean()
        means = [beside.mean() for (of, _), beside in list(self._beside.items()) if of == net]
        return sum(means) / len(means) if means else 0.0
