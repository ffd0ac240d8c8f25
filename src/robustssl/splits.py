"""From a task and a seed to the rows that a learner is fitted on and tested on, at every t."""

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from robustssl import registry
from robustssl.cell import Cell
from robustssl.data import Pools, Split, ViewedRows
from robustssl.encoders import Pretrained, digests_of
from robustssl.encoders._joined import Joined
from robustssl.encoders.none import Texts
from robustssl.preprocessing import Matrix, preprocessing
from robustssl.views.texts import VERSIONS, text_versions

KEPT = 2**24  # bytes of a split of texts, at most, for the next method


@dataclass(frozen=True, eq=False)
class Prepared:
    """What cells that differ only in algorithm and t have in common."""

    environment: Any
    pools: Pools
    notes: tuple[str, ...] = ()  # what `pools` warned of; every split repeats it
    _texts: dict[tuple[float, bool], Split] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def encoder(self) -> Any:
        """The encoder of images or texts; None for a table."""
        return registry.encoder(self.pools.data.encoder) if self.pools.data.encoder else None

    def split(self, t: float, views: bool = False) -> Split:
        """The rows at t. With `views`, for nets, images of no encoder stay images, and vectors come
        with those of views. Views for TF-IDF take seconds, and all methods see the same: they are
        kept, unless they are large.
        """
        for note in self.notes:
            warnings.warn(note, stacklevel=2)
        if self.pools.data.encoder != "tfidf":
            return self._split(t, views)
        if (t, views) in self._texts:
            return self._texts[t, views]
        split = self._split(t, views)
        if split.X.nbytes <= KEPT:
            self._texts[t, views] = split
        return split

    def _split(self, t: float, views: bool) -> Split:
        split: Split = self.environment.split(self.pools, t)
        if self._is_ready(views):
            reads = views and isinstance(self.encoder, Texts)
            return replace(split, X=self._viewed(split.X)) if reads else split
        X = self._viewed(split.X) if views and self.encoder else self.preprocess(split.X)
        return replace(split, X=X, X_test=self.test_features)

    def _is_ready(self, views: bool) -> bool:
        """Whether a learner takes the rows as they are."""
        raw = self.pools.data.encoder == "pixels" or isinstance(self.encoder, Texts)
        return self.environment.scales or (views and raw)

    def _viewed(self, X: Matrix) -> ViewedRows:
        if not isinstance(self.encoder, Pretrained | Texts):
            versions = (self.preprocess(texts) for texts in text_versions(X))
            bank = np.stack([self.preprocess(X), *versions], axis=1)
            return ViewedRows(bank, np.arange(len(X)), VERSIONS, VERSIONS)
        shared, digests = self._bank, digests_of(X)
        if not all(digest in shared.places for digest in digests):
            shared = Banked.of(X, self)
        index = np.array([shared.places[digest] for digest in digests], np.intp)
        return ViewedRows(shared.bank, index, self.encoder.weak, self.encoder.strong, self._blocks)

    @property
    def _blocks(self) -> tuple[int, ...]:
        """The columns of each encoder, if there are several."""
        if not isinstance(self.encoder, Joined):
            return ()
        blocks: tuple[int, ...] = self.preprocessing.steps[0][1].steps[1][1].blocks_
        return blocks

    @cached_property
    def _bank(self) -> "Banked":
        return Banked.of(self._learned, self)

    @property
    def _learned(self) -> Matrix:
        """The rows of t = 0 and of t = 1, and so of every t if rows are only replaced."""
        return np.concatenate([self.environment.split(self.pools, t).X for t in (0.0, 1.0)])

    def encoded(self) -> tuple[Matrix, Matrix]:
        """The rows that are encoded: those learned from, and those that are only predicted."""
        aside = self.environment.degrade(self.pools, self.pools.aside)
        return self._learned, np.concatenate([self.pools.data.X[self.pools.test], aside])

    @cached_property
    def preprocessing(self) -> Pipeline:
        """The one preprocessing, fitted at t = 0."""
        data = self.pools.data
        rows = self.environment.split(self.pools, 0.0).X
        return preprocessing(rows, data.kind, data.encoder)

    def preprocess(self, X: Matrix) -> Matrix:
        """Rows as numbers; as they are where `split` scales on its own."""
        return X if self.environment.scales else np.asarray(self.preprocessing.transform(X))

    def aside(self, views: bool = False) -> Matrix:
        """The inconsistent rows that are set aside; none where `split` scales on its own."""
        rows = self.pools.aside[:0] if self.environment.scales else self.pools.aside
        X = self.environment.degrade(self.pools, rows)
        return X if len(rows) == 0 or self._is_ready(views) else self.preprocess(X)

    @cached_property
    def test_features(self) -> Matrix:
        """The features of the test rows, the same at every t."""
        return self.preprocess(self.pools.data.X[self.pools.test])


@dataclass(frozen=True, eq=False)
class Banked:
    """Rows and their views, encoded and preprocessed, or texts as they are; `places` finds a row by
    its digest.
    """

    bank: Matrix
    places: dict[bytes, int]

    @staticmethod
    def of(X: Matrix, prepared: Prepared) -> "Banked":
        first: dict[bytes, int] = {}
        for place, digest in enumerate(digests_of(X)):
            first.setdefault(digest, place)
        rows = X[list(first.values())]
        encoder = prepared.encoder
        if isinstance(encoder, Texts):
            bank = encoder.with_views(rows)
        else:
            raw = np.concatenate([encoder.vectors(rows)[:, None], encoder.views(rows)], axis=1)
            bank = projected(raw, prepared.preprocessing)
        return Banked(bank, {digest: place for place, digest in enumerate(first)})


def projected(vectors: Matrix, fitted: Pipeline) -> Matrix:
    """Vectors, (rows, versions, width), after what a fitted preprocessing does behind its encoder,
    rounded to 16 bits; on a GPU if there is one.
    """
    import torch

    from robustssl.deep.device import device_of

    encoded, scale = fitted.steps[0][1], fitted.steps[1][1]
    components = encoded.steps[1][1]
    device = device_of("auto")
    matrix = torch.tensor(components.components_.T / scale.scale_, dtype=torch.float32).to(device)
    shift = components.mean_ @ components.components_.T + scale.mean_
    moved = torch.tensor(shift / scale.scale_, dtype=torch.float32).to(device)
    parts = [
        (torch.from_numpy(vectors[start : start + 1024]).to(device).float() @ matrix - moved)
        .half()
        .cpu()
        .numpy()
        for start in range(0, len(vectors), 1024)
    ]
    return np.concatenate(parts)


@lru_cache(maxsize=8)
def prepare(dataset: str, environment: str, labels: int, seed: int) -> Prepared:
    """Pools of one seed, and the preprocessing that follows from them.

    Rows are drawn by the name of the data, however the dataset is spelled: the path to a file, or
    the encoder of its texts, does not change them.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dealt = pools(dataset, environment, labels, seed)
    notes = tuple(str(w.message) for w in caught)
    return Prepared(registry.environment(environment), dealt, notes)


def pools(dataset: str, environment: str, labels: int, seed: int) -> Pools:
    """The pools of one seed."""
    data, open_environment = registry.dataset(dataset), registry.environment(environment)
    cell = Cell("", environment, data.name, labels, 0.0, seed)
    found: Pools = open_environment.pools(data, labels, open_environment.chance(cell))
    return found
