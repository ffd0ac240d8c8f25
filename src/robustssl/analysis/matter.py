"""Which methods matter where not all can be shown: one rule, for figures and for pages.

Methods that are not built in come first, since somebody came for them. Then come those with the
larger mean gain over tasks; oracles and ceilings are no tasks. After them come those that are
identical to their baselines in every cell, then those that lack a gain on a task where others have
one: a missing gain is not a good one. Baselines do not count: where scores are drawn, those of the
methods shown are drawn in grey.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from robustssl.analysis.curves import KeyedCurve, matched
from robustssl.analysis.identical import same_as_baseline
from robustssl.records import catalog
from robustssl.spec import parse

MOST = 8  # methods in a figure


class Standing(NamedTuple):
    """A method and its mean gain over the tasks where it has one; nan where it has none. `lacking`
    are the tasks on which others have a gain and it does not; `own` methods are not built in.
    """

    name: str
    gain: float
    lacking: int
    identical: bool
    own: bool

    @property
    def is_compared(self) -> bool:
        return not self.lacking and not np.isnan(self.gain)

    @property
    def order(self) -> tuple[Any, ...]:
        gain = -np.inf if np.isnan(self.gain) else self.gain
        return not self.own, not self.is_compared, self.identical, -gain, self.name


def standings(found: Sequence[KeyedCurve]) -> list[Standing]:
    """All methods that are not supervised, in the order in which they matter."""
    gains: dict[str, list[float]] = defaultdict(list)
    tasks = set()
    for curve, pair in matched(found):
        if curve.task.access is None:
            gains[curve.name].append(float(pair.gain.metrics()["AUC"]))
            tasks.add(curve.place)
    same = same_as_baseline(found)
    methods = {c.name: c for c in found if c.method is None or c.method.supervised is not True}
    every = [
        Standing(
            name,
            float(np.mean(gains[name])) if gains[name] else np.nan,
            len(tasks) - len(gains[name]),
            name in same and same[name].everywhere,
            catalog.entry("algorithm", parse(curve.algorithm)[0]) is None,
        )
        for name, curve in methods.items()
    ]
    return sorted(every, key=lambda standing: standing.order)


def that_matter(found: Sequence[KeyedCurve], most: int = MOST) -> list[str]:
    """The methods that are shown if not all can be, by name."""
    return [standing.name for standing in standings(found)[:most]]


def left_out(found: Sequence[KeyedCurve], most: int = MOST) -> str:
    """A sentence on the methods that are not shown then; nothing if all are."""
    every = standings(found)
    rest = every[most:]
    if not rest:
        return ""
    own = "your own and " if every[0].own else ""
    gains = [standing.gain for standing in rest if standing.is_compared]
    told = f" ({min(gains):+.3f} to {max(gains):+.3f})" if gains else ""
    lacking = len(rest) - len(gains)
    lacks = f", {lacking} of which were not compared on every task" if lacking else ""
    return (
        f"Of {len(every)} methods {most} are shown: {own}those with the largest mean gain over "
        f"tasks. Left out are {len(rest)}{told}{lacks}."
    )
