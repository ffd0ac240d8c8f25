"""What processes are at work on: since when, and until when, as they expect it."""

import time
from collections.abc import Callable
from functools import partial
from multiprocessing.sharedctypes import RawArray
from typing import Any, NamedTuple

from robustssl.execution.groups import Group


class Begun(NamedTuple):
    """A group that a process has begun, by `time.monotonic`; `end` is 0 as long as the process does
    not know when it will be done.
    """

    group: Group
    start: float
    end: float


class Desk:
    """Groups that are given to processes. These write down, in memory that they share with this
    one, when they begin a group and when they expect to be done with it.
    """

    def __init__(self, seats: int = 0) -> None:
        self._times = RawArray("d", 2 * seats)
        self._groups: list[Group | None] = [None] * seats
        self.prepare = partial(_sit_down, self._times)  # what a process calls when it starts

    def put(self, group: Group) -> int:
        """The seat at which a group is worked on until it is taken away."""
        seat = self._groups.index(None)
        self._times[2 * seat : 2 * seat + 2] = [0.0, 0.0]
        self._groups[seat] = group
        return seat

    def take(self, group: Group) -> None:
        self._groups[self._groups.index(group)] = None

    def begun(self) -> list[Begun]:
        """The groups that are under way; others wait for their process."""
        there = [(seat, group) for seat, group in enumerate(self._groups) if group]
        found = [Begun(group, *self._times[2 * s : 2 * s + 2]) for s, group in there]
        return [one for one in found if one.start]


# In a process that works on groups: the memory, and the seat of the group at hand.
_times: Any = None
_seat = 0


def _sit_down(times: Any) -> None:
    global _times
    _times = times


def begin(seat: int) -> None:
    """Say that this process begins the group at a seat."""
    global _seat
    _seat = seat
    _times[2 * seat] = time.monotonic()


class Expectation:
    """When this process will be done with its group, from the share that it has done since it told
    of one first. Where nobody asks, nothing is written down.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._first = clock, (0.0, 1.0)

    def tell(self, share: float) -> None:
        now = self._clock()
        start, before = self._first = min(self._first, (now, share), key=lambda told: told[1])
        if _times is not None and share > before:
            _times[2 * _seat + 1] = now + (now - start) * (1 - share) / (share - before)
