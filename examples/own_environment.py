"""An environment of one's own says which rows are consistent, or what is done to the others.

If inconsistent rows lack classes, say `paired = False` in the class: without it every row is
replaced by one of its own class, and `check` refuses classes that are not there.

cd examples
robustssl check own_environment:LargeValues --dataset wine
robustssl show environment own_environment:LargeValues --dataset wine
"""

from dataclasses import dataclass

import numpy as np

from robustssl.environments import Environment


@dataclass(frozen=True, kw_only=True)
class LargeValues(Environment):
    """t: share of unlabeled rows in which a feature is above its median."""

    feature: int = 0

    def divide(self, data, rng):
        large = np.zeros(len(data.y), bool)
        for k in np.unique(data.y):  # of each class, so that classes keep their shares
            values = data.X[data.y == k, self.feature]
            large[data.y == k] = values > np.median(values)
        return np.flatnonzero(~large), np.flatnonzero(large)
