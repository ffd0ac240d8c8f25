"""The time that is left of a run, and an order of its groups in which that is soon known."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from robustssl.cell import Cell
from robustssl.execution.groups import Group, are_nets, groups, is_net
from robustssl.execution.pace import Pace
from robustssl.execution.status import Place, place_of
from robustssl.progress import ENOUGH
from robustssl.records.record import Record


class Lane:
    """Groups that are left to some workers, and how much work on them is done already."""

    def __init__(self, workers: int, now: float) -> None:
        self.workers, self.spent, self._count = workers, 0.0, 0
        self.groups: Counter[Place] = Counter()
        self.cells: Counter[Place] = Counter()
        self._busy, self._last = 0.0, now

    def add(self, group: Group) -> None:
        self.groups[place_of(group[0])] += 1
        self.cells[place_of(group[0])] += len(group)
        self._count += 1

    def done(self, records: Sequence[Record], seconds: float, now: float) -> None:
        """A group, or a part of it, was run. The first began when its worker had started, and so
        did those beside it.
        """
        self._busy = self._busy_at(now) if self.spent else self._active() * seconds
        self.spent, self._last = self.spent + seconds, now
        place = place_of(records[0].cell)
        self.cells[place] -= len(records)
        before = self.groups[place]
        self.groups[place] = max(before - 1, 1) if self.cells[place] else 0
        self._count += self.groups[place] - before

    def under_way(self, now: float) -> float:
        """The work done on groups that are not done: workers were busy, and nothing came of it."""
        return max(self._busy_at(now) - self.spent, 0.0)

    def _busy_at(self, now: float) -> float:
        return self._busy + self._active() * (now - self._last)

    def _active(self) -> int:
        return min(self.workers, self._count)

    def work(self, pace: Pace) -> list[tuple[float, float]] | None:
        """The seconds of the groups of each place, and of one of them; None if not known."""
        left = {place: count for place, count in list(self.groups.items()) if count}
        found = []
        for place, each in pace.each(left).items():
            if each is None:
                return None
            fits, beside = self.cells[place] * each, pace.beside(place[2])
            found.append((fits + left[place] * beside, fits / left[place] + beside))
        return found


class TimeLeft:
    """The seconds until a run is done: the work that is left, shared by the workers, but not less
    than its longest group. Nets have processes of their own where there are `gpus`.
    """

    def __init__(
        self,
        waiting: Iterable[Group],
        pace: Pace,
        workers: int,
        gpus: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pace, self._clock = pace, clock
        self._others = Lane(workers, clock())
        self._nets = Lane(gpus, clock()) if gpus else self._others
        for group in waiting:
            self._lane(group[0]).add(group)
        self._known = all(map(pace.knows, [*self._others.groups, *self._nets.groups]))

    def _lane(self, cell: Cell) -> Lane:
        return self._nets if is_net(cell.spec) else self._others

    def done(self, records: Sequence[Record], seconds: float) -> None:
        """A group was run; a process was at work on it for so many seconds."""
        self._pace.learn(records, seconds)
        self._lane(records[0].cell).done(records, seconds, self._clock())

    def seconds(self) -> float | None:
        """None as long as it is not known: less than a tenth of the work is done, and the store
        does not know all of it either.
        """
        left, lanes = self.estimate(), {self._others, self._nets}
        work = sum(seconds for lane in lanes for seconds, _ in lane.work(self._pace) or ())
        spent = sum(lane.spent for lane in lanes)
        return left if self._known or spent >= ENOUGH * (spent + work) else None

    def estimate(self) -> float | None:
        """The seconds, by however little they are known; None if nothing is known of some work."""
        now, times = self._clock(), [0.0]
        for lane in {self._others, self._nets}:
            work = lane.work(self._pace)
            if work is None:
                return None
            longest = max((seconds for _, seconds in work), default=0.0)
            under_way = min(lane.under_way(now), lane.workers * longest)
            shared = (sum(seconds for seconds, _ in work) - under_way) / lane.workers
            times.append(max(shared, longest - under_way))
        return max(times)


def in_order(cells: Sequence[Cell], known: Mapping[Place, float]) -> Iterator[Group]:
    """The groups of cells: one of each method, environment and dataset of unknown length first, so
    that the time left is soon known, then long ones before short ones. Whole curves of nets, which
    are long, come before what else is unknown.
    """
    tried: set[Place] = set()
    for group in groups(cells):
        place = place_of(group[0])
        if place not in known and place not in tried and not are_nets(group):
            tried.add(place)
            yield group
    rest = (group for group in groups(cells) if not _is_first(group, tried))

    def length(group: Group) -> float:
        return -len(group) * known.get(place_of(group[0]), float("inf"))

    yield from sorted(rest, key=length) if known else rest


def _is_first(group: Group, tried: set[Place]) -> bool:
    """Whether it is the first group of a place that was tried, which is one no more then."""
    place = place_of(group[0])
    if place in tried and not are_nets(group):
        tried.remove(place)
        return True
    return False
