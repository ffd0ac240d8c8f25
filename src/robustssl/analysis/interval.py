"""Numbers with their intervals: one type, one way to make them, one way to write them."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.errors import InputError

Array = npt.NDArray[np.float64]

NO_INTERVAL = "no interval"  # all seeds agree, and nothing bounds what they may have missed
IDENTICAL = "identical"  # the same predictions in every cell
ROUGH = "~"  # an interval that may cover less often than it says
_SAME = 1e-12  # values that differ by less are equal: their means were rounded


@dataclass(frozen=True)
class Interval:
    """A number and where it may lie: scalars, or arrays for many numbers at once.

    `plain` is the value before bias correction. `low` and `high` are nan where there is no
    interval; `note` says why, or marks the interval (ROUGH).
    """

    estimate: Any
    low: Any = np.nan
    high: Any = np.nan
    plain: Any = None
    note: Any = ""

    def __format__(self, form: str) -> str:
        """`estimate [low, high]`, each in the form given (.3f), then in parentheses the plain
        value where it differs, and the reason where there is no interval.
        """
        form = form or ".3f"
        estimate = write_number(self.estimate, form)
        if np.isnan(self.low):
            return f"{estimate} ({self.note})" if self.note else estimate
        plain = estimate if self.plain is None else write_number(self.plain, form)
        ends = f"[{write_number(self.low, form)}, {write_number(self.high, form)}]"
        return f"{estimate} {ends}{self.note}" + (f" ({plain})" if plain != estimate else "")

    def __str__(self) -> str:
        return format(self, "")

    def __getitem__(self, place: Any) -> "Interval":
        """One of many."""
        fields = (self.estimate, self.low, self.high, self.plain, self.note)
        return Interval(*(value if np.ndim(value) == 0 else value[place] for value in fields))


def write_number(value: Any, form: str = ".3f") -> str:
    """A number in the form given; n/a where it is undefined."""
    if np.isnan(value):
        return "n/a"
    text = format(float(value), form)
    return text.lstrip("+-") if re.fullmatch(r"[+-]0\.0*", text) else text


@dataclass(frozen=True)
class Ties:
    """What bounds a value that is the same for all seeds.

    `rows` is the number of test rows of one seed, nan where it is not known or the score is not a
    share of rows. A `difference` of two scores may have `identical` predictions behind it.
    """

    rows: Any = np.nan
    difference: bool = False
    identical: Any = False

    def limits(self, value: Array, level: float) -> tuple[Array, Array]:
        """Clopper and Pearson's limits of a share; of a difference, plus or minus the share that
        so many rows may hide.
        """
        from scipy.special import betaincinv

        rows, miss = np.broadcast_to(np.asarray(self.rows, float), value.shape), (1 - level) / 2
        if self.difference:
            hidden = np.where(self.identical, np.nan, 1 - miss ** (1 / rows))
            return value - hidden, value + hidden
        k = np.clip(value, 0, 1) * rows
        with np.errstate(invalid="ignore"):
            low = np.where(k > 0, betaincinv(k, rows - k + 1, miss), 0)
            high = np.where(k < rows, betaincinv(k + 1, rows - k, 1 - miss), 1)
        known = np.isfinite(rows)
        return np.where(known, low, np.nan), np.where(known, high, np.nan)


def student_interval(
    values: Array,
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    plain: Array | None = None,
    ties: Ties | None = None,
) -> Interval:
    """Student's interval for the mean over the last axis, inside the bounds.

    One value has none. Values that are all equal have the interval of their `ties`, if any.
    """
    check_level(level)
    n, centre = values.shape[-1], values.mean(-1)
    half = np.full_like(centre, np.nan)
    if n > 1:
        half = student(n - 1, level) * values.std(-1, ddof=1) / np.sqrt(n)
    low, high, note = centre - half, centre + half, np.full(centre.shape, "", object)
    equal = (n > 1) & (np.ptp(values, axis=-1) <= _SAME)
    if np.any(equal):
        ends = (ties or Ties()).limits(np.asarray(centre), level)
        low, high = (np.where(equal, end, x) for end, x in zip(ends, (low, high), strict=True))
        reason = np.where(ties is not None and ties.identical, IDENTICAL, NO_INTERVAL)
        note = np.where(equal & np.isnan(low), reason, "")
    parts = (np.clip(part, *bounds) for part in (centre, low, high))
    whole = (*parts, centre if plain is None else plain, note)
    return Interval(*map(scalar, whole))


def student(df: Any, level: float) -> Any:
    """The quantile of Student's distribution that bounds an interval of that level."""
    from scipy.special import stdtrit

    return stdtrit(df, (1 + level) / 2)


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level:g}")


def scalar(value: Any) -> Any:
    """A number or a text instead of an array without dimensions."""
    return value.item() if isinstance(value, np.ndarray | np.generic) and value.ndim == 0 else value
