"""Methods that predict what their baselines predict: unlabeled rows have changed nothing."""

from collections.abc import Sequence
from typing import NamedTuple

from robustssl.analysis.curves import KeyedCurve, matched


class Same(NamedTuple):
    """In how many cells the predictions are the baseline's, of those in which both are known."""

    cells: int
    of: int

    @property
    def everywhere(self) -> bool:
        return self.cells == self.of > 0

    def __str__(self) -> str:
        return f"identical to its baseline in {self.cells:,} of {self.of:,} cells"


def same_as_baseline(found: Sequence[KeyedCurve]) -> dict[str, Same]:
    """Of each method that has a baseline here, by its name: in how many cells of all tasks its
    predictions are the baseline's. A method for which that is so `everywhere` does no harm and is
    of no use: call it identical to its baseline, not safe.
    """
    counts: dict[str, Same] = {}
    for curve, pair in matched(found):
        before = counts.get(curve.name, Same(0, 0))
        counts[curve.name] = Same(before.cells + pair.identical, before.of + pair.cells)
    return counts
