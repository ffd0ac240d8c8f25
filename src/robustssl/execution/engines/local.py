"""Processes on this machine: spawned, one thread each, ended with their parent. Where there are
GPUs, a process each trains the nets.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import filterfalse, islice
from types import ModuleType

from threadpoolctl import threadpool_limits

from robustssl import registry
from robustssl.execution.groups import Group, are_nets
from robustssl.execution.limits import UNLIMITED, Limits
from robustssl.records.record import Record

_DIED = "WorkerDied: the process ended without a word (out of memory?)"
_STUCK = "OverTime: over the time limit, in code that does not come back to the interpreter"

LEAVE = 3.0  # seconds that an idle process may take to end

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Work = Callable[[Group], list[Record]]


def run_groups(
    groups: Iterable[Group],
    work: Work,
    workers: int,
    *,
    gpus: Sequence[str] = (),
    limits: Limits = UNLIMITED,
) -> Generator[list[Record], None, None]:
    """The records of each group as they come. Nets go to processes that have one of the `gpus`
    each, if there are any; a GPU named twice has two. One worker for the rest is this process,
    unless there are limits that may end it; more are their own.
    """
    if workers == 1 and not gpus and limits == UNLIMITED:
        with threadpool_limits(1):
            yield from map(work, groups)
        return
    if gpus:
        every = list(groups)
        nets, groups = filter(are_nets, every), filterfalse(are_nets, every)
        lanes = [_Lane(nets, work, 1, gpu) for gpu in gpus]
    else:
        lanes = []
    lanes.append(_Lane(iter(groups), work, workers))
    try:
        while running := _refill(lanes):
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=lambda future: future.exception() is not None):
                yield from running[future].take(future, limits)
    finally:
        for lane in lanes:
            lane.close()


def gpus() -> list[str]:
    """The names of the GPUs that this process may use."""
    import torch

    names = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    count = torch.cuda.device_count()
    return names[:count] if names != [""] else list(map(str, range(count)))


Running = Future[list[Record]]


@dataclass
class _Lane:
    """Processes that take groups from one queue. If one dies, those that were in flight are run
    again one at a time, so that the one which brings its process down is known.
    """

    waiting: Iterator[Group]
    work: Work
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
            most = self.workers if self.gpu else 2 * self.workers
            for group in islice(self.waiting, most - len(self.running)):
                self._submit(group)

    def _submit(self, group: Group) -> None:
        """Submit a group. If the pool is broken already, its future says so, as it would later."""
        if self.pool is None:
            self.pool = ProcessPoolExecutor(
                self.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start_worker,
                initargs=(self.gpu,),
            )
        try:
            with clean_start():
                future = self.pool.submit(self.work, group)
        except BrokenProcessPool as error:
            future = Future()
            future.set_exception(error)
        self.running[future] = group

    def take(self, future: Running, limits: Limits) -> Iterator[list[Record]]:
        """The records of a group, or none yet if its process died."""
        if future not in self.running:
            return  # went down with another
        try:
            records = future.result()
        except BrokenProcessPool:
            groups = list(self.running.values())
            self.close()
            if not self.alone:
                self.suspects = groups
                return
            (group,), taken = groups, time.monotonic() - self.began
            reason = _STUCK if taken >= limits.patience(len(group)) else _DIED
            records = [Record(cell, registry.versions(cell), error=reason) for cell in group]
        self.running.pop(future, None)
        yield records

    def close(self) -> None:
        """End the processes: those at work at once, others when they have had time to leave."""
        if self.pool is not None:
            processes = list((self.pool._processes or {}).values())
            end = time.monotonic() + (0 if self.running else LEAVE)
            self.pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.join(max(0, end - time.monotonic()))
                process.kill()
            self.pool.shutdown()
        self.pool = None
        self.running.clear()


def _refill(lanes: Sequence[_Lane]) -> dict[Running, _Lane]:
    """Give every lane work, and return what is running in which lane."""
    for lane in lanes:
        lane.refill()
    return {future: lane for lane in lanes for future in lane.running}


@contextmanager
def clean_start() -> Iterator[None]:
    """Spawned here, a process neither imports its parent's script, which would run it again, nor
    hears of Ctrl-C while it starts: it inherits the blocked signal, the parent gets it afterwards.
    Whatever library it loads uses one thread.
    """
    main, environment = sys.modules["__main__"], {name: os.environ.get(name) for name in THREADS}
    sys.modules["__main__"] = ModuleType("__main__")
    os.environ.update(dict.fromkeys(THREADS, "1"))
    if hasattr(signal, "pthread_sigmask"):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        for name, value in environment.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(gpu: str | None) -> None:
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
