"""What the groups of a study take, learned from those that were run."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from robustssl.execution.groups import is_net
from robustssl.execution.status import Place, place_of
from robustssl.records.record import Record


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


class Pace:
    """What groups take: seconds of a fit by method, environment and dataset, and seconds beside
    fits by dataset. `known` are the seconds of a cell in a store.
    """

    def __init__(self, known: Mapping[Place, float], workers: int) -> None:
        self._known = dict(known)
        self._cells: Counter[Place] = Counter()
        self._fits: dict[Place, float] = defaultdict(float)
        self._beside: dict[str, Beside] = defaultdict(lambda: Beside(workers))

    def learn(self, records: Sequence[Record], seconds: float) -> None:
        """A group was run; a process was at work on it for so many seconds. Of a failure it is not
        known how long its fits took: they count as all of it.
        """
        place = place_of(records[0].cell)
        failed = any(record.error is not None for record in records)
        fits = seconds if failed else sum(record.seconds for record in records)
        self._cells[place] += len(records)
        self._fits[place] += fits
        self._known[place] = self._fits[place] / self._cells[place]
        if not failed:
            self._beside[place[2]].learn(max(seconds - fits, 0.0))

    def knows(self, place: Place) -> bool:
        return place in self._known

    def each(self, places: Iterable[Place]) -> dict[Place, float | None]:
        """The seconds of a cell of each place; where none are known, the mean of the method
        elsewhere, or of methods of its kind, nets or not. None if there is none of these.
        """
        alike: dict[Any, list[float]] = defaultdict(list)
        for (method, *_), seconds in list(self._known.items()):
            alike[method].append(seconds)
            alike[is_net(method)].append(seconds)
        typical = {name: sum(values) / len(values) for name, values in alike.items()}
        return {
            place: self._known.get(place, typical.get(place[0], typical.get(is_net(place[0]))))
            for place in places
        }

    def beside(self, dataset: str) -> float:
        """The seconds of a group beside its fits; of other datasets where it has none."""
        if dataset in self._beside:
            return self._beside[dataset].mean()
        means = [beside.mean() for beside in list(self._beside.values())]
        return sum(means) / len(means) if means else 0.0
