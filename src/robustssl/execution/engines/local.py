"""Processes on this machine: one thread each, ended with their parent. Where there are GPUs, a
process each trains the nets.
"""

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import filterfalse, islice
from typing import NamedTuple

from robustssl import registry
from robustssl.errors import bounded
from robustssl.execution.begun import Desk, begin
from robustssl.execution.engines.processes import clean_start, end_pool, pool_of
from robustssl.execution.groups import Group, are_nets
from robustssl.execution.limits import UNLIMITED, Limits
from robustssl.records.record import Record

_DIED = "WorkerDied: the process ended without a word (out of memory?)"
_STUCK = "OverTime: over the time limit, in code that does not come back to the interpreter"

Work = Callable[[Group], list[Record]]


class Done(NamedTuple):
    """The records of a group, and the seconds that a process was at work on it."""

    records: list[Record]
    seconds: float


def run_groups(
    groups: Iterable[Group],
    work: Work,
    workers: int,
    *,
    gpus: Sequence[str] = (),
    limits: Limits = UNLIMITED,
    desk: Desk | None = None,
) -> Generator[Done, None, None]:
    """The records of each group as they come. Nets go to processes that have one of the `gpus`
    each, if there are any; a GPU named twice has two. No group is run in this process, since what
    ends a process, ends a worker then. At the `desk` one sees which groups are under way.
    """
    lanes, desk = [], desk or Desk(in_flight(workers, len(gpus)))
    if gpus:
        every = list(groups)
        nets, groups = filter(are_nets, every), filterfalse(are_nets, every)
        lanes = [_Lane(nets, work, desk, 1, gpu) for gpu in gpus]
    lanes.append(_Lane(iter(groups), work, desk, workers))
    try:
        while running := _refill(lanes):
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            in_order = filter(finished.__contains__, running)
            for future in sorted(in_order, key=lambda future: future.exception() is not None):
                yield from running[future].take(future, limits)
    finally:
        for lane in lanes:
            lane.close()


def in_flight(workers: int, gpus: int) -> int:
    """How many groups are given to processes at once: one to each that has a GPU, two to others, so
    that none of them waits for its next one.
    """
    return 2 * workers + gpus


def _at_seat(seat: int, work: Work, group: Group) -> Done:
    begin(seat)
    return timed(work, group)


def timed(work: Work, group: Group) -> Done:
    start = time.perf_counter()
    records = work(group)
    return Done(records, time.perf_counter() - start)


def halves(group: Group) -> list[Group]:
    middle = len(group) // 2
    return [group[:middle], group[middle:]]


def gpus() -> list[str]:
    """The names of the GPUs that this process may use."""
    import torch

    names = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    count = torch.cuda.device_count()
    return names[:count] if names != [""] else list(map(str, range(count)))


Running = Future[Done]


@dataclass
class _Lane:
    """Processes that take groups from one queue. If one dies, those that were in flight are run
    again one at a time, so that the one which brings its process down is known. Its halves are
    run then, and so on, until it is known which cell does.
    """

    waiting: Iterator[Group]
    work: Work
    desk: Desk
    workers: int
    gpu: str | None = None
    running: dict[Running, Group] = field(default_factory=dict)
    suspects: list[Group] = field(default_factory=list)
    alone: bool = False
    began: float = 0.0
    pool: ProcessPoolExecutor | None = None

    def refill(self) -> None:
        if self.suspects and not self.running:
            self.alone, self.began = True, time.monotonic()
            self._submit(self.suspects.pop(0))
        elif not self.suspects and not (self.alone and self.running):
            self.alone = False
            most = in_flight(0, 1) if self.gpu else in_flight(self.workers, 0)
            for group in islice(self.waiting, most - len(self.running)):
                self._submit(group)

    def _submit(self, group: Group) -> None:
        """Submit a group. If the pool is broken already, its future says so, as it would later."""
        if self.pool is None:
            self.pool = pool_of(self.workers, self.gpu, self.desk.prepare)
        seat = self.desk.put(group)
        try:
            with clean_start():
                future = self.pool.submit(_at_seat, seat, self.work, group)
        except BrokenProcessPool as error:
            future = Future()
            future.set_exception(error)
        self.running[future] = group

    def take(self, future: Running, limits: Limits) -> Iterator[Done]:
        """The records of a group, or none yet if its process died."""
        if future not in self.running:
            return  # went down with another
        try:
            done = future.result()
        except BrokenProcessPool:
            groups = list(self.running.values())
            self.close()
            if not self.alone:
                self.suspects = groups
                return
            (group,), taken = groups, time.monotonic() - self.began
            stuck = taken >= limits.patience(len(group))
            if len(group) > 1 and not stuck:
                self.suspects[:0] = halves(group)
                return
            done = failures(group, _STUCK if stuck else _DIED)
        except Exception as error:  # when a group was received, or its records were sent
            done = failures(self.running[future], f"{type(error).__name__}: {error}")
        finished = self.running.pop(future, None)
        yield done
        if finished is not None:
            self.desk.take(finished)  # now it counts as done

    def close(self) -> None:
        """End the processes: those at work at once, others when they have had time to leave."""
        if self.pool is not None:
            end_pool(self.pool, at_work=bool(self.running))
        self.pool = None
        while self.running:
            self.desk.take(self.running.popitem()[1])


def failures(group: Group, reason: str) -> Done:
    reason = bounded(reason)
    return Done([Record(cell, registry.versions(cell), error=reason) for cell in group], 0.0)


def _refill(lanes: Sequence[_Lane]) -> dict[Running, _Lane]:
    """Give every lane work, and return what is running in which lane."""
    for lane in lanes:
        lane.refill()
    return {future: lane for lane in lanes for future in lane.running}
