"""Show progress: a bar on a terminal, elsewhere a line every few seconds."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Watch(Protocol):
    """Something that is told of every record."""

    def step(self, failed: bool) -> None: ...


@dataclass
class Lines:
    """A plain line at most every `pause` seconds, and one at the end."""

    console: Console
    total: int
    unit: str
    pause: float = 5.0
    done: int = 0
    failed: int = 0
    start: float = field(default_factory=time.monotonic)
    said: float = field(default_factory=time.monotonic)

    def step(self, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if now - self.said >= self.pause or self.done == self.total:
            self.said = now
            rate = self.done / max(now - self.start, 1e-9)
            left = (self.total - self.done) / rate
            self.console.print(
                f"{self.done}/{self.total} {self.unit}, {_failures(self.failed)}"
                f"{rate:.1f}/s, {left:.0f} s left",
                highlight=False,
            )


@dataclass
class Bar:
    progress: Progress
    total: int
    done: int = 0
    failed: int = 0
    start: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.task = self.progress.add_task("", total=self.total, failed="", rate=0.0)

    def step(self, failed: bool) -> None:
        self.done += 1
        self.failed += failed
        rate = self.done / max(time.monotonic() - self.start, 1e-9)
        self.progress.update(self.task, advance=1, failed=_failures(self.failed), rate=rate)


def _failures(count: int) -> str:
    return f"{count} failed, " if count else ""


@contextmanager
def watch(total: int, console: Console, unit: str = "cells") -> Iterator[Watch]:
    if not console.is_terminal:
        yield Lines(console, total, unit)
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit}, {{task.fields[failed]}}{{task.fields[rate]:.1f}}/s,"),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console) as progress:
        yield Bar(progress, total)
