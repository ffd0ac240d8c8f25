"""Weak and strong views of rows as pure functions of the rows and of numbers drawn before.

A family knows its rows by their shape: tables (rows, features), versions of embedded texts (rows,
features, 1 + 2 versions: the text, weakly and strongly changed ones), images (rows, height, width,
channels) in whole numbers from 0 to 255.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor

from robustssl.views.images import strong_view, to_unit, weak_view

Strength = Literal["weak", "strong"]
VIEWS: dict[str, Strength] = {
    "weak": "weak",
    "other": "weak",
    "strong": "strong",  # of unlabeled rows
    "x_strong": "strong",  # of labeled ones
}


class Views(Protocol):
    """What an algorithm may ask of rows."""

    def draw(
        self, rng: np.random.Generator, size: tuple[int, ...], strength: Strength
    ) -> npt.NDArray[np.float32]:
        """The chance of `size` rows."""

    def plain(self, rows: Tensor) -> Tensor: ...

    def view(self, rows: Tensor, chance: Tensor, strength: Strength) -> Tensor: ...


@dataclass(frozen=True)
class TableViews:
    """Noise on standardised features, of the deviations given."""

    features: int
    weak: float
    strong: float

    def draw(
        self, rng: np.random.Generator, size: tuple[int, ...], strength: Strength
    ) -> npt.NDArray[np.float32]:
        return rng.standard_normal((*size, self.features), np.float32)

    def plain(self, rows: Tensor) -> Tensor:
        return rows

    def view(self, rows: Tensor, chance: Tensor, strength: Strength) -> Tensor:
        return rows + getattr(self, strength) * chance


@dataclass(frozen=True)
class TextViews:
    """One of the versions of a text that were made before, weakly or strongly changed."""

    versions: int

    def draw(
        self, rng: np.random.Generator, size: tuple[int, ...], strength: Strength
    ) -> npt.NDArray[np.float32]:
        return rng.random((*size, 1), np.float32)

    def plain(self, rows: Tensor) -> Tensor:
        return rows[..., 0] if rows.ndim == 3 else rows

    def view(self, rows: Tensor, chance: Tensor, strength: Strength) -> Tensor:
        first = 1 if strength == "weak" else 1 + self.versions
        which = first + (chance * self.versions).long().clamp(max=self.versions - 1)
        return rows.take_along_dim(which[:, None], dim=2)[..., 0]


@dataclass(frozen=True)
class ImageViews:
    """Weak: flipped and shifted. Strong: also RandAugment and Cutout."""

    def draw(
        self, rng: np.random.Generator, size: tuple[int, ...], strength: Strength
    ) -> npt.NDArray[np.float32]:
        return rng.random((*size, 3 if strength == "weak" else 9), np.float32)

    def plain(self, rows: Tensor) -> Tensor:
        return to_unit(rows)

    def view(self, rows: Tensor, chance: Tensor, strength: Strength) -> Tensor:
        chance = chance.float()
        weak = weak_view(to_unit(rows), chance[:, :3])
        return weak if strength == "weak" else strong_view(weak, chance[:, 3:])


def views_of(shape: tuple[int, ...], weak: float, strong: float) -> Views:
    """The family of rows of a shape, the number of rows left out."""
    if len(shape) == 1:
        return TableViews(shape[0], weak, strong)
    return TextViews((shape[1] - 1) // 2) if len(shape) == 2 else ImageViews()
