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
        return lose_columns(pools, rows, 0.0 if self.access == "consistent" else t), rows

    def degrade(self, pools: Pools, rows: Rows) -> Matrix:
        """Half of an image, a text, or the features of a row that another environment chose."""
        lose: Any = {"tabular": lose_columns, "image": lose_colour, "text": lose_words}
        left: Matrix = lose[pools.data.kind](pools, rows)
        return left


def lose_columns(pools: Pools, rows: Rows, share: float = 0.5) -> Matrix:
    """The first ceil(share d) features of an order that the seed draws."""
    X, d = pools.data.X, pools.data.X.shape[1]
    lost = np.random.default_rng(pools.seed).permutation(d)[: count(share, d)]
    left: Matrix = X[rows]
    left[:, lost] = X[np.ix_(pools.labeled, lost)].mean(0)
    return left


def lose_colour(pools: Pools, rows: Rows) -> Matrix:
    """The first channel over all three; a grey image loses half of its pixels, each its own."""
    whole: Matrix = pools.data.X[rows]
    left = np.repeat(whole[..., :1], whole.shape[-1], axis=-1)
    for i in np.flatnonzero((left == whole).all((1, 2, 3))):
        pixels = left[i].reshape(-1, whole.shape[-1])
        lost = np.random.default_rng((pools.seed, rows[i])).permutation(len(pixels))
        pixels[lost[: len(pixels) // 2]] = 0
    return left


def lose_words(pools: Pools, rows: Rows) -> Matrix:
    """Half of the words, in their order; a text of one word keeps it."""
    left = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        words = np.array(pools.data.X[row].split(), object)
        kept = np.random.default_rng((pools.seed, row)).permutation(len(words))[len(words) // 2 :]
        left[i] = " ".join(words[np.sort(kept)])
    return left
