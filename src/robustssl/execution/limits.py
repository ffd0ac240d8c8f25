"""Limits of time and memory, enforced inside the worker process, whatever engine runs it."""

import faulthandler
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from robustssl.errors import InputError

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

MOST = 1e6
GRACE = 2.0  # seconds for code to come back to the interpreter, before its process is ended


class OverTime(BaseException):
    """The time limit was reached. It is no `Exception`, because a method's code may catch those."""


@dataclass(frozen=True)
class Limits:
    """`seconds` of a cell, `gigabytes` of the process it runs in."""

    seconds: float | None = None
    gigabytes: float | None = None

    def __post_init__(self) -> None:
        if resource is None and (self.seconds or self.gigabytes):
            raise InputError("limits of time and memory need Linux or macOS")
        for name in ("seconds", "gigabytes"):
            if (value := getattr(self, name)) is not None and not 0 < value <= MOST:
                must = f"a limit must be above 0 and at most {MOST:g} {name}"
                raise InputError(f"{must}, got {value:g}")

    def patience(self, cells: int) -> float:
        """Seconds after which a process that works on so many cells is ended."""
        return float("inf") if self.seconds is None else self.seconds * cells + GRACE

    @contextmanager
    def kept(self, cells: int) -> Iterator[None]:
        """Beyond its memory the code gets a MemoryError; beyond its time, OverTime, or where it
        does not come back to the interpreter, an end of the process.
        """
        with self._memory(), self._time(cells):
            yield

    @contextmanager
    def _memory(self) -> Iterator[None]:
        if self.gigabytes is None:
            yield
            return
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (int(self.gigabytes * 2**30), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))

    @contextmanager
    def _time(self, cells: int) -> Iterator[None]:
        if self.seconds is None:
            yield
            return

        def over(*_: Any) -> None:
            raise OverTime(f"over the time limit of {self.seconds:g} s a cell")

        before = signal.signal(signal.SIGALRM, over)
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123
            faulthandler.dump_traceback_later(self.patience(cells), exit=True, file=nowhere)
            signal.setitimer(signal.ITIMER_REAL, self.seconds * cells)
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                faulthandler.cancel_dump_traceback_later()
                signal.signal(signal.SIGALRM, before)


UNLIMITED = Limits()
