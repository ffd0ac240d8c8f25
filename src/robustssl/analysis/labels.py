"""Numbers of labels that a gain is worth: one type, one way to write them, one median."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustssl.errors import InputError


@dataclass(frozen=True)
class Labels:
    """Further labels, less than 0 for labels thrown away, and where their number may lie.

    The learning curve tells numbers from `least` to `most`; a number beyond is inf or -inf, and
    what is not known nan. In all, or `a_class` where the number of classes is not known.
    """

    estimate: float
    low: float = np.nan
    high: float = np.nan
    least: float = -np.inf
    most: float = np.inf
    a_class: bool = True

    @property
    def is_censored(self) -> bool:
        """Whether the curve ends before it reaches the score."""
        return bool(np.isinf(self.estimate))

    @property
    def is_bounded(self) -> bool:
        """Whether a number of labels can be named: that it is more than 0 says nothing."""
        end = self.most if self.estimate > 0 else self.least
        return not self.is_censored or float(self._write(end)) != 0

    @property
    def known(self) -> tuple[float, float]:
        """Between which numbers the estimate lies for certain."""
        if not self.is_censored:
            return self.estimate, self.estimate
        return (self.most, np.inf) if self.estimate > 0 else (-np.inf, self.least)

    def times(self, classes: int) -> "Labels":
        """The number in all, of so many classes."""
        values = (self.estimate, self.low, self.high, self.least, self.most)
        estimate, low, high, least, most = (value * classes for value in values)
        return Labels(estimate, low, high, least, most, a_class=False)

    def __str__(self) -> str:
        unit = "labels a class" if self.a_class else "labels"
        if np.isnan(self.estimate):
            return "n/a"
        if self.is_censored:
            end = self.most if self.estimate > 0 else -self.least
            text = f"more than {self._write(end)} {unit}"
            text += "" if self.estimate > 0 else " thrown away"
            if not self.is_bounded:
                text = f"a {'gain' if self.estimate > 0 else 'harm'} beyond the learning curve"
        else:
            text = f"{self._write(self.estimate, '+')} {unit}"
        if np.isnan(self.low):
            return text
        return f"{text} [{self._end(self.low)}, {self._end(self.high)}]"

    def _end(self, value: float) -> str:
        if np.isinf(value):
            return f"> {self._write(self.most)}" if value > 0 else f"< {self._write(self.least)}"
        return self._write(value)

    def _write(self, value: float, sign: str = "") -> str:
        number = round(value, 1 if self.a_class else 0) or 0.0
        return format(number, f"{sign if number else ''}.{1 if self.a_class else 0}f")


def median(found: Sequence[Labels]) -> Labels:
    """The median over tasks. Where a curve ended before it reached the score, what is known: that
    the median is a gain of more than a number, or that more than a number is thrown away, or
    nothing.
    """
    if not found:
        raise InputError("a median over tasks needs at least one task")
    if len({one.a_class for one in found}) > 1:
        raise InputError("labels in all and labels a class have no common median")
    lows, highs = (sorted(ends) for ends in zip(*(one.known for one in found), strict=True))
    low, high = (_middle(ends) for ends in (lows, highs))
    a_class = found[0].a_class
    if low == high:
        return Labels(low, a_class=a_class)
    if low > 0 or (low, high) == (0, np.inf):
        return Labels(np.inf, most=low, a_class=a_class)
    harm = high < 0 or (low, high) == (-np.inf, 0)
    return Labels(-np.inf if harm else np.nan, least=high, a_class=a_class)


def _middle(ends: list[float]) -> float:
    first, second = ends[(len(ends) - 1) // 2], ends[len(ends) // 2]
    return first if first == second else (first + second) / 2
