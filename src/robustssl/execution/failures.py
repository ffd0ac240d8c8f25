"""What goes wrong in a cell, and its record."""

import multiprocessing
import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from robustssl import registry
from robustssl.cell import Cell
from robustssl.errors import bounded
from robustssl.execution.limits import OverTime
from robustssl.records.record import Record


@contextmanager
def no_fork_returns() -> Iterator[None]:
    """If the code inside forks this process, the child ends where that code is done: it must not
    answer a second time.
    """
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(1)


def let_through(error: BaseException) -> None:
    """What is not of the cell: its time is over, or a person stops the run in this process."""
    if of_a_person(error) or isinstance(error, OverTime):
        raise error


def of_a_person(error: BaseException) -> bool:
    """Whether it is Ctrl-C; worker processes do not hear it."""
    return isinstance(error, KeyboardInterrupt) and multiprocessing.parent_process() is None


def failed_record(cell: Cell, error: BaseException, made_with: Mapping[str, Any]) -> Record:
    reason, log = reason_of(error), "".join(traceback.format_exception(error))
    method = registry.describe(cell.spec)
    versions = registry.versions(cell)
    return Record(cell, versions, error=reason, provenance=made_with, log=log, method=method)


def reason_of(error: BaseException) -> str:
    try:
        return bounded(f"{type(error).__name__}: {error}")
    except Exception:
        return f"{type(error).__name__}, which cannot say why"
