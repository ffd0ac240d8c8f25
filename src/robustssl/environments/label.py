"""The label space differs: unlabeled rows come from classes that have no labels."""

from dataclasses import dataclass

import numpy as np

from robustssl.data import Dataset, Pools
from robustssl.environments import Environment, deal, set_aside
from robustssl.errors import InputError


@dataclass(frozen=True)
class Label(Environment):
    """t: share of unlabeled rows of unknown classes; the first (K + 1) // 2 classes are the known
    ones.
    """

    def pools(self, data: Dataset, labels: int, rng: np.random.Generator) -> Pools:
        classes = np.unique(data.y)
        known = classes[: (len(classes) + 1) // 2]
        if len(known) < 2:
            raise InputError(
                f"the label environment keeps two known classes or more, so it needs three; "
                f"{data.name} has {len(classes)}"
            )
        dealt = [deal(data, np.flatnonzero(data.y == label), labels, rng) for label in known]
        labeled, test, consistent = map(np.concatenate, zip(*dealt, strict=True))
        unknown = rng.permutation(np.flatnonzero(~np.isin(data.y, known)))
        aside, inconsistent = set_aside(unknown)
        n = min(len(consistent), len(inconsistent))
        consistent = rng.permutation(consistent)
        return Pools(data, labeled, test, consistent[:n], inconsistent[:n], aside)
