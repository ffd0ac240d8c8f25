"""Processes that work for this one: one thread each, ended with their parent."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from types import ModuleType

LEAVE = 3.0  # seconds that an idle process may take to end

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Pool = ProcessPoolExecutor


def pool_of(workers: int, gpu: str | None = None, prepare: Callable[[], object] = int) -> Pool:
    """Processes that end with this one; `prepare` is called in each when it starts. What is
    submitted to them must be so inside of `clean_start`.
    """
    return ProcessPoolExecutor(
        workers,
        mp_context=_context(),
        initializer=_start_worker,
        initargs=({**os.environ, **dict.fromkeys(THREADS, "1")}, gpu, prepare),
    )


def _context() -> BaseContext:
    """How processes start: anew or, on Linux, as copies of one that has imported what all need,
    which takes hundredths of a second instead of two.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["robustssl.execution.worker"])
    return context


def end_pool(pool: Pool, at_work: bool) -> None:
    """End the processes: those at work at once, others when they have had time to leave."""
    processes = list((pool._processes or {}).values())
    end = time.monotonic() + (0 if at_work else LEAVE)
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.join(max(0, end - time.monotonic()))
        process.kill()
    pool.shutdown()


@contextmanager
def clean_start() -> Iterator[None]:
    """Started here, a process neither imports its parent's script, which would run it again, nor
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


def _start_worker(
    environment: Mapping[str, str], gpu: str | None, prepare: Callable[[], object]
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
