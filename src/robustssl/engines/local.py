"""Processes on this machine: spawned, one thread each, ended with their parent."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from types import ModuleType

from threadpoolctl import threadpool_limits

from robustssl.record import Record
from robustssl.worker import Group

_DIED = "WorkerDied: the process ended without a word (out of memory?)"

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Work = Callable[[Group], list[Record]]


def run_groups(
    groups: Iterable[Group], work: Work, workers: int
) -> Generator[list[Record], None, None]:
    """The records of each group as they come. One worker is this process, more are their own."""
    waiting = iter(groups)
    if workers == 1:
        with threadpool_limits(1):
            yield from map(work, waiting)
        return
    while suspects := (yield from _pool(waiting, work, workers)):
        again = iter(suspects)  # a worker died with one of them; one at a time it is the first
        while in_flight := (yield from _pool(again, work, 1)):
            guilty, *others = in_flight
            yield [Record(cell, cell.versions, error=_DIED) for cell in guilty]
            again = chain(others, again)


def _pool(
    waiting: Iterator[Group], work: Work, workers: int
) -> Generator[list[Record], None, list[Group]]:
    """Work in a pool of processes; returns the groups in flight, in order, when one died."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)
    running: dict[Future[list[Record]], Group] = {}
    try:
        while True:
            for group in islice(waiting, 2 * workers - len(running)):
                running[_submit(pool, work, group)] = group
            if not running:
                return []
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(finished, key=lambda f: f.exception() is not None):
                records = future.result()
                del running[future]
                yield records
    except BrokenProcessPool:
        return list(running.values())
    finally:
        for process in list((pool._processes or {}).values()) if running else ():
            process.kill()
        pool.shutdown(cancel_futures=True)


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


def _submit(pool: ProcessPoolExecutor, work: Work, group: Group) -> Future[list[Record]]:
    """As `submit`; a pool that is broken by now answers through the future like one that breaks
    later.
    """
    try:
        with clean_start():
            return pool.submit(work, group)
    except BrokenProcessPool as error:
        future: Future[list[Record]] = Future()
        future.set_exception(error)
        return future


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
