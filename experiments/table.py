"""Tables of words and of means over tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from robustssl.analysis.interval import Interval, write_number


@dataclass(frozen=True)
class Number:
    """A mean over tasks, with its interval and p-value over seeds, and its least and largest value
    when one dataset is left out. `sure`: the p-value is small after Holm's correction.
    """

    interval: Interval
    p: float
    without_one: tuple[float, float] | None
    tasks: int
    form: str = "+.3f"
    sure: bool = False

    @property
    def estimate(self) -> float:
        return float(self.interval.estimate)

    def __str__(self) -> str:
        """`estimate [low, high] (least to largest)`, in bold where it is sure."""
        bold = "**" if self.sure else ""
        ends = [write_number(end, self.form) for end in self.without_one or ()]
        return f"{bold}{self.interval:{self.form}}{bold}" + f" ({' to '.join(ends)})" * bool(ends)


class Column(dict[str, Any]):
    """The cells of a column by the first cells of their rows."""

    @property
    def count(self) -> int:
        return len(self)

    @property
    def ahead(self) -> int:
        """How many are above 0 after the correction."""
        return sum(n.sure and n.estimate > 0 for n in self.values())

    @property
    def behind(self) -> int:
        """How many are below 0 after the correction."""
        return sum(n.sure and n.estimate < 0 for n in self.values())

    @property
    def above(self) -> int:
        """How many have an interval above 0."""
        return sum(n.interval.low > 0 for n in self.values())

    @property
    def below(self) -> int:
        """How many have an interval below 0."""
        return sum(n.interval.high < 0 for n in self.values())


@dataclass(frozen=True)
class Table:
    """Rows of words and numbers; `table[head]` is a column, `format(table, "head|head")` writes
    some of the columns, and `str(table)` all of them.
    """

    heads: Sequence[str]
    rows: list[Sequence[str | Number]]

    def __getitem__(self, head: str) -> Column:
        place = list(self.heads).index(head)
        return Column((str(row[0]), row[place]) for row in self.rows if row[place] != "")

    def __format__(self, heads: str) -> str:
        chosen = heads.split("|") if heads else self.heads
        places = [list(self.heads).index(head) for head in chosen]
        rows = [[str(row[place]) for place in places] for row in self.rows]
        return str(tabulate(rows, headers=chosen, tablefmt="github", disable_numparse=True))
