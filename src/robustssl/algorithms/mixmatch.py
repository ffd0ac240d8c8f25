"""MixMatch (Berthelot et al., 2019: arXiv:1905.02249)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    State,
    Tensor,
    cross_entropy,
    frozen,
    mse_loss,
    one_hot,
)


@dataclass(eq=False, repr=False, kw_only=True)
class MixMatch(DeepClassifier):
    """Sharpened guesses q from two weak views; every row is mixed with another, l x + (1 - l) x', l
    ~ Beta(alpha, alpha) and at least a half: CE on the labeled part + weight r MSE(p, q).

    weight: 75 for images; rows of a table have less to agree on.
    """

    weight: float = 10.0
    alpha: float = 0.75
    temperature: float = 0.5
    warmup: float = 0.4

    ranges: ClassVar = {"alpha": (1e-6, 1e6)}
    views = ("weak", "other")
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"weight": 75.0},
    }

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """For each mixed row the share l, and a number whose rank says what it is mixed with."""
        rows = (size[0], self.batch + 2 * size[1])
        share = rng.beta(self.alpha, self.alpha, rows)
        return np.stack([np.maximum(share, 1 - share), rng.random(rows)], 1)

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        first, second = net(frozen(params), batch.weak, batch.other)
        guess = (first.softmax(-1) + second.softmax(-1)) ** (1 / self.temperature)
        q = guess / guess.sum(-1, keepdim=True)
        rows = torch.cat([batch.x, batch.weak, batch.other])
        targets = torch.cat([one_hot(batch.y, q), q, q])
        share, partner = batch.noise[0], batch.noise[1].argsort()
        wide = share.view(-1, *[1] * (rows.ndim - 1))
        logits = net(params, wide * rows + (1 - wide) * rows[partner])
        targets = share[:, None] * targets + (1 - share[:, None]) * targets[partner]
        count = len(batch.y)
        unlabeled = mse_loss(logits[count:].softmax(-1), targets[count:])
        weight = self.weight * self.ramp(batch, self.warmup)
        return cross_entropy(logits[:count], targets[:count]), weight * unlabeled, state
