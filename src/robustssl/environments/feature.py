"""The feature space differs: unlabeled rows have lost features, colour, pixels or words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from robustssl.data import Dataset, Pools, Rows, as_array, digest
from robustssl.environments import Environment, Matrix, count, halves
from robustssl.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Feature(Environment):
    """t: for tabular data, the share of features that are missing in every unlabeled row and
    replaced by their mean over the labeled rows. For images, the share of rows without colour; grey
    images lose half of their pixels instead. For texts, the share of rows without half of their
    words.
    """

    def divide(self, data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Half of the rows of each class will be degraded; of tabular data, all unlabeled rows."""
        if data.kind == "vectors":
            raise InputError(
                f"{data.name} holds vectors, which have lost nothing that could be seen: degrade "
                "the rows before they are encoded"
            )
        if data.kind == "tabular":
            if self.mix == "add":
                raise InputError(
                    "mix=add is not possible: tabular features go missing in every unlabeled row, "
                    "so there are no rows to add"
                )
            return np.arange(len(data.y)), np.empty(0, np.intp)
        return halves(data, rng)

    def seen(self, pools: Pools, t: float) -> tuple[Matrix, Rows]:
        if pools.data.kind != "tabular":
            return super().seen(pools, t)
        rows = pools.consistent
        return lose_columns(pools, rows, 0.0 if self.access == "consistent" else t), rows

    def degrade(self, pools: Pools, rows: Rows) -> Matrix:
        """The rows without colour, without half of their words, or without half of their features
        if another environment chose rows of a table.
        """
        lose: Any = {"tabular": lose_columns, "image": lose_colour, "text": lose_words}
        left: Matrix = lose[pools.data.kind](pools, rows)
        return left


def lose_columns(pools: Pools, rows: Rows, share: float = 0.5) -> Matrix:
    """Replace the first ceil(share d) features, in an order drawn from the seed, by their mean over
    the labeled rows.
    """
    X, d = pools.data.X, pools.data.X.shape[1]
    lost = np.random.default_rng(pools.seed).permutation(d)[: count(share, d)]
    left: Matrix = X[rows]
    left[:, lost] = X[np.ix_(pools.labeled, lost)].mean(0)
    return left


def lose_colour(pools: Pools, rows: Rows) -> Matrix:
    """Copy the first channel to all three; a grey image loses half of its pixels, drawn for each
    image.
    """
    whole: Matrix = pools.data.X[rows]
    left = np.repeat(whole[..., :1], whole.shape[-1], axis=-1)
    for i in np.flatnonzero((left == whole).all((1, 2, 3))):
        pixels = left[i].reshape(-1, whole.shape[-1])
        lost = _chance(pools, rows[i]).permutation(len(pixels))
        pixels[lost[: len(pixels) // 2]] = 0
    return left


def lose_words(pools: Pools, rows: Rows) -> Matrix:
    """Drop half of the words and keep the order of the others; a text of one word keeps it."""
    left = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        words = np.array(pools.data.X[row].split(), object)
        kept = _chance(pools, row).permutation(len(words))[len(words) // 2 :]
        left[i] = " ".join(words[np.sort(kept)])
    return left


def _chance(pools: Pools, row: int) -> np.random.Generator:
    """What a row loses: drawn for each seed, or by the row alone."""
    if pools.data.loses_by_seed:
        return np.random.default_rng((pools.seed, row))
    content = digest(as_array(pools.data.X[row : row + 1]))
    return np.random.default_rng(int(content[:32], 16))
