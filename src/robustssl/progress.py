"""Show progress: a bar on a terminal, elsewhere a line every few seconds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

ENOUGH = 0.1  # the share of the work after which the time left is told
Left = Callable[[], float | None]

_is_silent: ContextVar[bool] = ContextVar("is_silent", default=False)


@contextmanager
def silent() -> Iterator[None]:
    """Inside, no progress is shown."""
    token = _is_silent.set(True)
    try:
        yield
    finally:
        _is_silent.reset(token)


def console() -> Console:
    """Where progress is shown."""
    return Console(stderr=True, quiet=_is_silent.get())


class Watch(Protocol):
    """Something that is told of every record."""

    def step(self, failed: bool = False, count: int = 1) -> None: ...


@dataclass
class _Count:
    """How many steps are done and failed. `left` gives the seconds that are left or, where they
    are not known, None; if there is no such function, steps are taken to last equally long.
    """

    total: int
    left: Left | None = None
    done: int = 0
    failed: int = 0
    start: float = field(default_factory=time.monotonic)

    def count(self, failed: bool, steps: int) -> float:
        """Some steps more; how many are done in a second."""
        self.done += steps
        self.failed += failed
        return self.done / max(time.monotonic() - self.start, 1e-9)

    def remaining(self) -> str:
        """The time that is left, in words."""
        if self.done == self.total:
            return "0 s left"
        left = self.left() if self.left else self._evenly()
        return "time left not known yet" if left is None else f"about {_duration(left)} left"

    def _evenly(self) -> float | None:
        if self.done < ENOUGH * self.total:
            return None
        return (time.monotonic() - self.start) / self.done * (self.total - self.done)


def _duration(seconds: float) -> str:
    hours, minutes = divmod(round(seconds) // 60, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {round(seconds) % 60} s" if minutes else f"{seconds:.0f} s"


@dataclass(kw_only=True)
class Lines(_Count):
    """A plain line at most every `pause` seconds, and one at the end."""

    console: Console
    unit: str
    pause: float = 5.0
    said: float = field(default_factory=time.monotonic)

    def step(self, failed: bool = False, count: int = 1) -> None:
        rate, now = self.count(failed, count), time.monotonic()
        if now - self.said >= self.pause or self.done == self.total:
            self.said = now
            self.console.print(
                f"{self.done}/{self.total} {self.unit}, {_failures(self.failed)}"
                f"{rate:.1f}/s, {self.remaining()}",
                highlight=False,
                markup=False,
            )


@dataclass(kw_only=True)
class Bar(_Count):
    progress: Progress

    def __post_init__(self) -> None:
        self.task = self.progress.add_task("", total=self.total, failed="", rate=0.0, count=self)

    def step(self, failed: bool = False, count: int = 1) -> None:
        rate = self.count(failed, count)
        self.progress.update(self.task, advance=count, failed=_failures(self.failed), rate=rate)


class _Remaining(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(task.fields["count"].remaining())


def _failures(count: int) -> str:
    return f"{count} failed, " if count else ""


@contextmanager
def watch(
    total: int, console: Console, unit: str = "cells", left: Left | None = None
) -> Iterator[Watch]:
    if not console.is_terminal:
        yield Lines(total, left, console=console, unit=unit)
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit}, {{task.fields[failed]}}{{task.fields[rate]:.1f}}/s,", markup=False),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        _Remaining(),
    )
    with Progress(*columns, console=console) as progress:
        yield Bar(total, left, progress=progress)
