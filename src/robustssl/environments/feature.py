"""The feature space differs: unlabeled rows have lost features, colour, pixels or words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from robustssl.data import Dataset, Pools, Rows
from robustssl.environments import Environment, Matrix, count
from robustssl.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Feature(Environment):
    """t: share of features missing in every unlabeled row (tabular data), replaced by the mean of
    the labeled rows; or share of rows without colour (images; grey ones lose half of their
    pixels), or without half of their words (texts).
    """

    def divide(self, data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Of each class half of the rows will be degraded; of tabular data, all unlabeled ones."""
        if data.kind == "tabular":
            if self.mix == "add":
                raise InputError(
                    "tabular features go missing in every unlabeled row, so there is nothing to "
                    "add (mix=add)"
                )
            return np.arange(len(data.y)), np.empty(0, np.intp)
        order = rng.permutation(len(data.y))
        order = order[np.argsort(data.y[order], kind="stable")]
        return np.sort(order[::2]), np.sort(order[1::2])

    def seen(self, pools: Pools, t: float) -> tuple[Matrix, Rows]:
        if pools.data.kind != "tabular":
            return super().seen(pools, t)
        rows = pools.consistent
        return self.degrade(pools, rows, 0.0 if self.access == "consistent" else t), rows

    def degrade(self, pools: Pools, rows: Rows, t: float) -> Matrix:
        left: Matrix = _LOSSES[pools.data.kind](pools, rows, t)
        return left


def _lose_columns(pools: Pools, rows: Rows, t: float) -> Matrix:
    X, d = pools.data.X, pools.data.X.shape[1]
    lost = np.random.default_rng(pools.seed).permutation(d)[: count(t, d)]
    left: Matrix = X[rows]
    left[:, lost] = X[np.ix_(pools.labeled, lost)].mean(0)
    return left


def _lose_colour(pools: Pools, rows: Rows, t: float) -> Matrix:
    """The first channel over all three; a grey image loses half of its pixels, each its own."""
    left: Matrix = pools.data.X[rows]
    if left.shape[-1] > 1:
        return np.repeat(left[..., :1], left.shape[-1], axis=-1)
    for image, row in zip(left, rows, strict=True):
        pixels = np.random.default_rng((pools.seed, row)).permutation(image.size)
        image.reshape(-1)[pixels[: image.size // 2]] = 0
    return left


def _lose_words(pools: Pools, rows: Rows, t: float) -> Matrix:
    """Half of the words, in their order; a text of one word keeps it."""
    left = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        words = np.array(pools.data.X[row].split(), object)
        kept = np.random.default_rng((pools.seed, row)).permutation(len(words))[len(words) // 2 :]
        left[i] = " ".join(words[np.sort(kept)])
    return left


_LOSSES: Any = {"tabular": _lose_columns, "image": _lose_colour, "text": _lose_words}
