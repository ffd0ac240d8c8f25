"""The time that is left of a run, and an order of its groups in which that is soon known."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from robustssl import registry
from robustssl.cell import Cell
from robustssl.execution.begun import Begun
from robustssl.execution.groups import Group, groups, is_net
from robustssl.execution.pace import Pace
from robustssl.execution.status import Place, place_of
from robustssl.progress import ENOUGH
from robustssl.records.record import Record


class Left(NamedTuple):
    """What is left to do: seconds by a clock, and seconds of work of all workers together."""

    seconds: float
    work: float


class Lane:
    """Groups that are left to some workers, and the seconds of those that are done."""

    def __init__(self, workers: int) -> None:
        self.workers, self.spent = workers, 0.0
        self._groups: Counter[Place] = Counter()
        self._cells: Counter[Place] = Counter()

    def add(self, group: Group) -> None:
        self._groups[place_of(group[0])] += 1
        self._cells[place_of(group[0])] += len(group)

    def done(self, records: Sequence[Record], seconds: float) -> None:
        """A group, or a part of it, was run."""
        self.spent += seconds
        place = place_of(records[0].cell)
        self._cells[place] -= len(records)
        self._groups[place] = max(self._groups[place] - 1, 1) if self._cells[place] else 0

    def left(self) -> dict[Place, int]:
        """The number of groups of each place that are not done."""
        return {place: count for place, count in list(self._groups.items()) if count}

    def each(self, pace: Pace) -> dict[Place, float] | None:
        """The seconds of a group of each place; None if those of some are not known."""
        found, left = {}, self.left()
        for place, seconds in pace.each(left).items():
            if seconds is None:
                return None
            found[place] = self._cells[place] * seconds / left[place] + pace.beside(place)
        return found

    def until_done(self, pace: Pace, begun: Sequence[Begun], now: float) -> Left | None:
        """What is left to do; None if not known. The work is shared by the workers, but takes not
        less than its longest group.
        """
        each = self.each(pace)
        if each is None:
            return None
        waiting, under_way = Counter(self.left()), []
        for group, start, end in begun:
            place = place_of(group[0])
            if waiting[place] > 0:
                waiting[place] -= 1
                under_way.append(max((end or start + each[place]) - now, 0.0))
        work = sum(under_way) + sum(count * each[place] for place, count in waiting.items())
        longest = max([0.0, *under_way, *(each[place] for place in +waiting)])
        return Left(max(work / self.workers, longest), work)


class TimeLeft:
    """The seconds until a run is done. Nets have processes of their own where there are `gpus`.
    `begun` gives the groups that are under way.
    """

    def __init__(
        self,
        waiting: Iterable[Group],
        pace: Pace,
        workers: int,
        gpus: int = 0,
        *,
        begun: Callable[[], Sequence[Begun]] = list,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pace, self._begun, self._clock = pace, begun, clock
        self._others = Lane(workers)
        self._nets = Lane(gpus) if gpus else self._others
        for group in waiting:
            self._lane(group[0]).add(group)
        self._is_known = all(map(pace.knows, [*self._others.left(), *self._nets.left()]))

    def _lane(self, cell: Cell) -> Lane:
        return self._nets if is_net(cell.spec) else self._others

    def done(self, records: Sequence[Record], seconds: float) -> None:
        """A group was run; a process was at work on it for so many seconds."""
        self._pace.learn(records, seconds)
        self._lane(records[0].cell).done(records, seconds)

    def seconds(self) -> float | None:
        """None until it is known, by the store or since a tenth of the work is done and the nets
        that are under way have said how long they will take.
        """
        now, begun = self._clock(), self._begun()
        left = self._until_done(now, begun)
        if left is None:
            return None
        spent = self._others.spent + self._nets.spent * (self._nets is not self._others)
        spent += sum(now - start for _, start, _ in begun)
        open_ = [b for b in begun if is_net(b.group[0].spec) and not b.end]
        enough = spent >= ENOUGH * (spent + left.work)
        self._is_known |= enough and all(self._pace.knows(place_of(b.group[0])) for b in open_)
        return left.seconds if self._is_known else None

    def estimate(self) -> float | None:
        """The seconds, by however little they are known; None if nothing is known of some work."""
        left = self._until_done(self._clock(), self._begun())
        return None if left is None else left.seconds

    def _until_done(self, now: float, begun: Sequence[Begun]) -> Left | None:
        for group, start, end in begun:
            if end:
                self._pace.expect(group, end - start)
        parts = []
        for lane in {self._others, self._nets}:
            own = [b for b in begun if self._lane(b.group[0]) is lane]
            part = lane.until_done(self._pace, own, now)
            if part is None:
                return None
            parts.append(part)
        return Left(max(p.seconds for p in parts), sum(p.work for p in parts))


def in_order(cells: Sequence[Cell], pace: Pace) -> Iterator[Group]:
    """The groups of cells: of each method, environment and dataset of unknown length some groups
    first, so that the time left is soon known, then long ones before short ones. Whole curves of
    nets, which are long, come after what else is unknown; supervised ones, which are not, before
    the others, and these first where other methods took long. How long things take is asked when
    it is needed, since a run learns it.
    """
    unknown: dict[Place, list[Group]] = {}
    for group in groups(cells):
        if not pace.knows(place_of(group[0])):
            unknown.setdefault(place_of(group[0]), []).append(group)
    tries = [_spread(alike) for place, alike in unknown.items() if not is_net(place[0])]
    curves = [alike[0] for place, alike in unknown.items() if is_net(place[0])]
    yield from filter(None, chain(*zip_longest(*tries)))
    yield from sorted(
        curves, key=lambda g: (not _is_supervised(g), -pace.among_others(place_of(g[0])))
    )
    first = {*chain(*tries), *curves}
    rest = [group for group in groups(cells) if group not in first]
    each = pace.each({place_of(group[0]) for group in rest})
    yield from sorted(rest, key=lambda group: -len(group) * (each[place_of(group[0])] or 0.0))


def _spread(alike: Sequence[Group]) -> list[Group]:
    """The groups at the lowest, at the middle and at the highest t, which may differ in length."""
    by_t = sorted(alike, key=lambda group: group[0].t)
    return list(dict.fromkeys(by_t[i] for i in (0, len(by_t) // 2, -1)))


def _is_supervised(group: Group) -> bool:
    return registry.about("algorithm", group[0].algorithm).supervised
