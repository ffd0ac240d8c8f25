"""From a task and a seed to the rows that a learner is fitted on and tested on, at every t."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from robustssl import registry
from robustssl.cell import Cell
from robustssl.data import Pools, Split
from robustssl.preprocessing import Matrix, fit_preprocessing
from robustssl.views.texts import text_versions

KEPT = 2**24  # bytes of a split of texts, at most, for the next method


@dataclass(frozen=True, eq=False)
class Prepared:
    """What cells that differ only in algorithm and t have in common."""

    environment: Any
    pools: Pools
    _texts: dict[tuple[float, bool], Split] = field(default_factory=dict, init=False, repr=False)

    def split(self, t: float, views: bool = False) -> Split:
        """The rows at t; with `views`, images stay images, and texts come in versions. Those of
        texts take seconds, and all methods see the same: they are kept, unless they are large.
        """
        if self.pools.data.kind != "text":
            return self._split(t, views)
        if (t, views) in self._texts:
            return self._texts[t, views]
        split = self._split(t, views)
        if split.X.nbytes <= KEPT:
            self._texts[t, views] = split
        return split

    def _split(self, t: float, views: bool) -> Split:
        split: Split = self.environment.split(self.pools, t)
        if self.environment.scales:
            return split
        kind = self.pools.data.kind
        if views and kind == "image":
            return split
        X = self.preprocess(split.X)
        if views and kind == "text":
            versions = (self.preprocess(texts) for texts in text_versions(split.X))
            X = np.stack([X, *versions], axis=2)
        return replace(split, X=X, X_test=self.test_features)

    @cached_property
    def preprocess(self) -> Callable[[Matrix], Matrix]:
        """The one preprocessing, fitted at t = 0; none where `split` scales on its own."""
        if self.environment.scales:
            return lambda X: X
        data = self.pools.data
        reference = self.environment.split(self.pools, 0.0).X
        return fit_preprocessing(reference, data.kind, data.meta.get("encoder", "tfidf"))

    def aside(self, views: bool = False) -> Matrix:
        """The inconsistent rows that are set aside; none where `split` scales on its own."""
        rows = self.pools.aside[:0] if self.environment.scales else self.pools.aside
        X = self.environment.degrade(self.pools, rows)
        as_it_is = len(rows) == 0 or (views and self.pools.data.kind == "image")
        return X if as_it_is else self.preprocess(X)

    @cached_property
    def test_features(self) -> Matrix:
        """The features of the test rows, the same at every t."""
        return self.preprocess(self.pools.data.X[self.pools.test])


@lru_cache(maxsize=8)
def prepare(dataset: str, environment: str, labels: int, seed: int) -> Prepared:
    """Pools of one seed, and the preprocessing that follows from them.

    Rows are drawn by the name of the data, however the dataset is spelled: the path to a file, or
    the encoder of its texts, does not change them.
    """
    data, open_environment = registry.dataset(dataset), registry.environment(environment)
    cell = Cell("", environment, data.name, labels, 0.0, seed)
    pools = open_environment.pools(data, labels, open_environment.chance(cell))
    return Prepared(open_environment, pools)
