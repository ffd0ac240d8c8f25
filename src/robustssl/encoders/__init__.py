"""Encoders: images and texts as vectors, one encoder per file.

An encoder is fitted on the rows of t = 0 (`pixels`, `tfidf`), or was trained by others on other
data. Vectors of the latter are made once: of each row itself and of weak and strong views of it,
which are made before the row is encoded. They are kept in a bank.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline

from robustssl import registry
from robustssl.downloads.banks import Bank, Vectors
from robustssl.encoders._digests import Rows as Rows
from robustssl.encoders._digests import chance as chance
from robustssl.encoders._digests import digests_of as digests_of
from robustssl.encoders._filling import NotEncodedError as NotEncodedError
from robustssl.encoders._filling import fill
from robustssl.encoders._filling import only_kept as only_kept
from robustssl.spec import Count, check_options, parse, spell

COMPONENTS = 256  # of the vectors of a pretrained encoder, at most


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """What all encoders have: a version, raised whenever its vectors change, and the kind of data
    that it encodes.
    """

    version: ClassVar[int] = 1
    kind: ClassVar[Literal["image", "text"]]

    def __post_init__(self) -> None:
        check_options(type(self), vars(self))

    @property
    def spec(self) -> str:
        """The name with the options that differ from their defaults."""
        return self._spelt(self._options)

    @property
    def _options(self) -> dict[str, Any]:
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def _spelt(self, options: dict[str, Any]) -> str:
        cls = type(self)
        home, _, name = cls.__module__.rpartition(".")
        return spell(name if home == __name__ else f"{cls.__module__}:{cls.__name__}", options)

    def features(self, rows: Rows) -> Any:
        """A transformer of rows into numbers, to be fitted on the rows given."""
        raise NotImplementedError

    def vectors(self, rows: Rows) -> Any:
        """The vectors of the rows, (n, width)."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Pretrained(Encoder):
    """An encoder that was trained by others. A subclass says the `width` of a vector, and defines
    `encode`.

    weak, strong: how many views of each row are kept.
    """

    weak: Count = 4
    strong: Count = 8

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        raise NotImplementedError

    def encode(self, rows: Rows, digests: Sequence[bytes], version: int) -> npt.NDArray[Any]:
        """The vectors (n, width) of a version of the rows: 0 is the rows themselves, 1 to `weak`
        are weak views, those after are strong ones. A view must depend on its row and on the
        version alone: `chance` gives random numbers that do.
        """
        raise NotImplementedError

    def strength(self, version: int) -> Literal["weak", "strong"] | None:
        """How much a version changes its rows; None: not at all."""
        if version == 0:
            return None
        return "weak" if version <= self.weak else "strong"

    def features(self, rows: Rows) -> Pipeline:
        """The leading components of the vectors."""
        count, width = len(rows), self.vectors(rows[:1]).shape[1]
        return make_pipeline(Encoded(self.spec), _components(count, width))

    def vectors(self, rows: Rows) -> Vectors:
        """The vectors of the rows themselves, (n, width)."""
        return self._kept(rows, range(1))[:, 0]

    def views(self, rows: Rows) -> Vectors:
        """The vectors of weak views, then those of strong views, (n, weak + strong, width)."""
        return self._kept(rows, range(1, 1 + self.weak + self.strong))

    def _kept(self, rows: Rows, versions: range) -> Vectors:
        bank, digests = self._bank(versions), digests_of(rows)
        if bank.missing(digests):
            fill(bank, rows, digests, versions, self.encode, self.spec)
        return bank.get(digests)

    def _bank(self, versions: range) -> Bank:
        options = self._options
        if versions.start == 0:  # the views do not matter
            options = {k: v for k, v in options.items() if k not in ("weak", "strong")}
        about = f"{self._spelt(options)}, {self._identity}"
        name = f"{about}, {'rows' if versions.start == 0 else 'views'}"
        return bank_of(name, (len(versions), self.width))

    @property
    def _identity(self) -> str:
        """What else tells vectors apart, besides the options."""
        return f"version {self.version}"


class Encoded(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows as their vectors, by an encoder (a spec)."""

    def __init__(self, encoder: str) -> None:
        self.encoder = encoder

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Where a file is loaded, an encoder of somebody's own is refused unless it is trusted."""
        registry.find("encoder", parse(str(state.get("encoder")))[0])
        super().__setstate__(state)

    def fit(self, X: Rows, y: None = None) -> Self:
        return self

    def transform(self, X: Rows) -> npt.NDArray[np.float32]:
        found: Pretrained = registry.encoder(self.encoder)
        return found.vectors(X).astype(np.float32)


class Blocks(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The leading components of each block of columns, as if it stood alone: as many, centred, and
    with a scale of its own, so that no encoder outweighs another by the size of its numbers.

    widths: the columns of each block; `blocks_` are the components of each.
    """

    def __init__(self, widths: tuple[int, ...]) -> None:
        self.widths = widths

    def fit(self, X: Rows, y: None = None) -> Self:
        parts = np.split(X, np.cumsum(self.widths)[:-1], axis=1)
        fitted = [_components(*part.shape).fit(part) for part in parts]
        scales = [pca.transform(part).std() or 1 for pca, part in zip(fitted, parts, strict=True)]
        scaled = [pca.components_ / scale for pca, scale in zip(fitted, scales, strict=True)]
        self.blocks_ = tuple(len(components) for components in scaled)
        self.components_ = block_diag(*scaled)
        self.mean_ = np.concatenate([pca.mean_ for pca in fitted])
        return self

    def transform(self, X: Rows) -> Rows:
        return np.asarray((X - self.mean_) @ self.components_.T)


def _components(count: int, width: int) -> PCA:
    """What finds the leading components of that many rows."""
    solver = "full" if count < width else "covariance_eigh"
    return PCA(min(COMPONENTS, count, width), svd_solver=solver)


bank_of = lru_cache(maxsize=8)(Bank)  # a process reads the entries of a bank once
