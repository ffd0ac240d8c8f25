"""Encoders: images and texts as vectors, one encoder per file.

An encoder is fitted on the rows of t = 0 (`pixels`, `tfidf`), or was trained by others on other
data. Vectors of the latter are made once: of each row itself and of weak and strong views of it,
which are made before the row is encoded. They are kept in a bank.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
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
from robustssl.downloads.banks import DIGEST, Bank, Vectors
from robustssl.errors import InputError
from robustssl.progress import console, watch
from robustssl.records.catalog import composed_version
from robustssl.spec import Count, check_options, parse, spell

Rows = npt.NDArray[Any]  # images, (n, height, width, channels) bytes, or texts, (n,)

COMPONENTS = 256  # of the vectors of a pretrained encoder, at most
PART = {"cpu": 256, "cuda": 1024}  # rows that are encoded and kept at once
FEW = 16  # rows that a core encodes at once


_only_kept: ContextVar[bool] = ContextVar("only_kept", default=False)


class NotEncodedError(InputError):
    """Rows are in no bank, where only what a bank holds may be used."""


@contextmanager
def only_kept() -> Iterator[None]:
    """Inside, rows that no bank holds are an error, for who may not take long."""
    token = _only_kept.set(True)
    try:
        yield
    finally:
        _only_kept.reset(token)


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
            if _only_kept.get():
                raise NotEncodedError(
                    f"rows are not encoded by {self.spec} yet; a run does that first, and that "
                    "time is not counted"
                )
            with bank.alone():  # whoever waits here finds the rows that others made
                self._add(bank, rows, digests, versions)
            bank.missing(digests)  # reads what was added
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

    def _add(self, bank: Bank, rows: Rows, digests: Sequence[bytes], versions: range) -> None:
        """Encode what is missing: on a CPU a few rows in each thread, which waits for no other."""
        missing = bank.missing(digests)
        if rows.dtype == object:
            missing.sort(key=lambda place: len(rows[place]))  # texts of like length, little padding
        what = "vectors" if versions.start == 0 else "vectors of views"
        total, unit = len(missing) * len(versions), f"{what} by {self.spec}"
        with watch(total, console(), unit=unit) as seen, _threads() as pool, _adding(bank) as add:
            part = PART["cuda" if pool is None else "cpu"]
            for start in range(0, len(missing), part):
                places = missing[start : start + part]
                chosen, found = [digests[place] for place in places], []
                for version in versions:
                    found.append(self._encoded(rows[places], chosen, version, pool))
                    seen.step(count=len(places))
                add(chosen, found)

    def _encoded(
        self, rows: Rows, digests: Sequence[bytes], version: int, pool: Executor | None
    ) -> Vectors:
        if pool is None:
            return self.encode(rows, digests, version).astype(np.float16)
        starts = range(0, len(rows), FEW)
        parts = [(rows[i : i + FEW], digests[i : i + FEW], version) for i in starts]
        return np.concatenate([*pool.map(lambda part: self.encode(*part), parts)]).astype(
            np.float16
        )


@dataclass(frozen=True, kw_only=True)
class Joined(Pretrained):
    """The vectors of several encoders side by side, a block each, from the banks of these encoders.

    weak, strong: how many views of each row every encoder keeps.
    """

    names: ClassVar[tuple[str, ...]]

    @property
    def members(self) -> list[Pretrained]:
        views = {"weak": self.weak, "strong": self.strong}
        return [registry.encoder(spell(name, views)) for name in self.names]

    @property
    def width(self) -> int:
        return sum(member.width for member in self.members)

    def _spelt(self, options: dict[str, Any]) -> str:
        return spell("+".join(self.names), options)

    def features(self, rows: Rows) -> Pipeline:
        """The leading components of each block."""
        widths = tuple(member.width for member in self.members)
        return make_pipeline(Encoded(self.spec), Blocks(widths))

    def vectors(self, rows: Rows) -> Vectors:
        return np.concatenate([member.vectors(rows) for member in self.members], axis=-1)

    def views(self, rows: Rows) -> Vectors:
        return np.concatenate([member.views(rows) for member in self.members], axis=-1)


def joined(names: Sequence[str]) -> type[Joined]:
    """The encoder `a+b`, whose members stand in the order of the alphabet."""
    names = tuple(sorted(names))
    members = [registry.find("encoder", name) for name in names]
    able = all(issubclass(member, Pretrained) for member in members)
    kinds = {member.kind for member in members}
    if not able or len(kinds) > 1 or len(set(names)) < len(names):
        raise InputError(
            f"cannot compose {'+'.join(names)!r}: it takes different pretrained encoders of one "
            "kind of data, such as efficientnet_lite0+resnet50"
        )
    body = {
        "__doc__": f"The vectors of {' and of '.join(names)} side by side, a block each.",
        "names": names,
        "kind": kinds.pop(),
        "version": composed_version(*(member.version for member in members)),
    }
    return type("".join(member.__name__ for member in members), (Joined,), body)


@contextmanager
def _adding(bank: Bank) -> Iterator[Callable[[Sequence[bytes], Sequence[Vectors]], None]]:
    """A function that adds the versions of rows to a bank while the next ones are encoded."""
    with ThreadPoolExecutor(1) as pool:
        last: list[Future[None]] = []

        def add(digests: Sequence[bytes], versions: Sequence[Vectors]) -> None:
            while last:
                last.pop().result()
            last.append(pool.submit(lambda: bank.add(digests, np.stack(versions, axis=1))))

        yield add
        for future in last:
            future.result()


@contextmanager
def _threads() -> Iterator[Executor | None]:
    """A thread for each core, in which torch uses no other; None where there is a GPU."""
    import torch

    if torch.cuda.is_available():
        yield None
        return
    before = torch.get_num_threads()
    with ThreadPoolExecutor(
        os.cpu_count() or 1, initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        yield pool
    torch.set_num_threads(before)


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


def digests_of(rows: Rows) -> list[bytes]:
    """A digest of each row, the same in whatever dataset it stands."""
    if rows.dtype == object:
        return [_digest(str(row).encode()) for row in rows]
    return [_digest(np.ascontiguousarray(row).data, f"{row.shape}") for row in rows]


def _digest(content: Any, shape: str = "") -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST, key=shape.encode()).digest()


def chance(digests: Sequence[bytes], version: int, count: int) -> npt.NDArray[np.float32]:
    """`count` uniform numbers for a version of each row, (n, count)."""
    drawn = b"".join(
        hashlib.shake_128(digest + version.to_bytes(4, "little")).digest(4 * count)
        for digest in digests
    )
    return (np.frombuffer(drawn, "<u4").reshape(-1, count) >> 8).astype(np.float32) / np.float32(
        2**24
    )


bank_of = lru_cache(maxsize=8)(Bank)  # a process reads the entries of a bank once
