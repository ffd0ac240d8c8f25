"""The label space differs: unlabeled rows come from classes that have no labels."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from robustssl import registry
from robustssl.data import Dataset, Pools, Rows
from robustssl.environments import Environment
from robustssl.environments._vectors import standardised
from robustssl.errors import InputError
from robustssl.spec import parse

Classes = npt.NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Label(Environment):
    """t: the share of unlabeled rows of unknown classes. Of K classes (K + 1) // 2 are known.

    known: the `first` ones, or others for each seed, `drawn`.
    unknown: `near` and `far` take half of the unknown classes: those whose mean is nearer to the
    mean of a known class, or farther, on standardised vectors. The name of another dataset of
    images or texts takes the rows of that one instead, under the same encoder.
    """

    known: Literal["first", "drawn"] = "first"
    unknown: str | None = None

    paired = False
    nested: ClassVar = {"unknown": "dataset"}

    def labeled_classes(self, classes: int) -> int:
        return (classes + 1) // 2

    def pools(self, data: Dataset, labels: int, rng: Any) -> Pools:
        if self.unknown in (None, "near", "far"):
            return super().pools(data, labels, rng)
        return super().pools(_joined(data, str(self.unknown)), labels, rng)

    def divide(self, data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
        classes = int(data.meta.get("own_classes", len(np.unique(data.y))))
        count = self.labeled_classes(classes)
        if count < 2:
            raise InputError(
                "the label environment has at least two known classes and one unknown, so it needs "
                f"three; {data.name} has {classes}"
            )
        # Drawn from a generator of its own, so that other draws stay those of other environments.
        drawn = self.known == "drawn"
        order = rng.spawn(1)[0].permutation(classes) if drawn else np.arange(classes)
        known, unknown = np.sort(order[:count]), self._unknown(data, order[:count])
        return np.flatnonzero(np.isin(data.y, known)), np.flatnonzero(np.isin(data.y, unknown))

    def _unknown(self, data: Dataset, known: Classes) -> Classes:
        """The classes that inconsistent rows come from."""
        if "own_classes" in data.meta:
            return np.unique(data.y[data.y >= data.meta["own_classes"]])
        unknown = np.setdiff1d(data.y, known)
        if self.unknown is None:
            return unknown
        if len(unknown) < 2:
            raise InputError(
                f"unknown={self.unknown} takes half of the unknown classes, but {data.name} has "
                "one unknown class"
            )
        vectors = standardised(data)
        means = np.stack([vectors[data.y == code].mean(0) for code in np.unique(data.y)])
        nearest = cdist(means[unknown], means[known]).min(1)
        order = unknown[np.argsort(nearest, kind="stable")]
        near = (len(order) + 1) // 2
        return order[:near] if self.unknown == "near" else order[near:]


def _joined(data: Dataset, other: str) -> Dataset:
    """A dataset with the rows of another one (a spec) behind its own, as further classes."""
    name, options = parse(other)
    if "encoder" in options:
        raise InputError(f"unknown={other}: rows are encoded as those of {data.name} are")
    more = registry.dataset(other)
    if more.kind != data.kind or data.kind not in ("image", "text"):
        raise InputError(
            f"unknown={name} takes rows from another dataset of images or of texts, but "
            f"{data.name} is {data.kind} and {name} is {more.kind}"
        )
    X = more.X if data.kind == "text" else _shaped_like(data, more)
    own = len(np.unique(data.y))
    names = [data.class_name(k) for k in range(own)]
    names += [f"{name}: {more.class_name(k)}" for k in np.unique(more.y)]
    domain = data.domain
    if domain is not None:
        domain = np.concatenate([domain, np.full(len(more.y), name, object)])
    return replace(
        data,
        X=np.concatenate([data.X, X]),
        y=np.concatenate([data.y, more.y + own]),
        domain=domain,
        meta={**data.meta, "classes": names, "own_classes": own},
    )


def _shaped_like(data: Dataset, more: Dataset) -> npt.NDArray[Any]:
    """The images of another dataset, of as many pixels and channels as these have."""
    shape, X = data.X.shape[1:], more.X
    if shape == X.shape[1:]:
        return X
    if data.encoder == "pixels":
        sizes = [" x ".join(map(str, image)) for image in (shape, X.shape[1:])]
        raise InputError(
            f"the images of {data.name} are {sizes[0]} and those of {more.name} {sizes[1]}: "
            "pixels cannot be compared, use a pretrained encoder"
        )
    if X.shape[-1] != shape[-1]:
        X = np.repeat(X, 3, -1) if shape[-1] == 3 else X.mean(-1, keepdims=True).astype(np.uint8)
    return X if X.shape[1:] == shape else _resized(X, shape)


def _resized(X: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    from PIL import Image

    size, smooth = (shape[1], shape[0]), Image.Resampling.BILINEAR
    images = (Image.fromarray(x.squeeze(-1) if shape[-1] == 1 else x) for x in X)
    return np.stack([np.asarray(image.resize(size, smooth)).reshape(shape) for image in images])
