"""The label space differs: unlabeled rows come from classes that have no labels."""

from dataclasses import dataclass

import numpy as np

from robustssl.data import Dataset, Rows
from robustssl.environments import Environment
from robustssl.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Label(Environment):
    """t: the share of unlabeled rows of unknown classes; the first (K + 1) // 2 are known."""

    paired = False

    def known(self, classes: int) -> int:
        return (classes + 1) // 2

    def divide(self, data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
        classes = len(np.unique(data.y))
        if self.known(classes) < 2:
            raise InputError(
                "the label environment has at least two known classes and one unknown, so it needs "
                f"three; {data.name} has {classes}"
            )
        is_known = data.y < self.known(classes)
        return np.flatnonzero(is_known), np.flatnonzero(~is_known)
