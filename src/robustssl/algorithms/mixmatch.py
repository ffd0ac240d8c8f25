"""MixMatch (Berthelot et al., 2019: arXiv:1905.02249)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch

from robustssl.algorithms import _mixing
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
from robustssl.method import Between, Preset, Space
from robustssl.spec import NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class MixMatch(DeepClassifier):
    """Sharpened guesses q from two weak views; every row is mixed with another one, l x + (1 - l)
    x' with l ~ Beta(alpha, alpha) and at least a half: CE on the labeled part + weight r MSE(p, q),
    where r is a ramp.

    Departures: the ramp lasts the whole run. The authors' has 16,384 steps, 1/64 of theirs and more
    than ours; as a share it would end before the first labels are learned, and the method collapses
    (experiments/collapse.py).
    """

    weight: NotNegative = 75.0
    alpha: _mixing.Concentration = 0.75
    temperature: Positive = 0.5
    warmup: Positive = 1.0

    views = ("weak", "other")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "google-research/mixmatch: mixmatch.py and runs/table1.sh", {"warmup": 1 / 64}
        ),
    }
    space: ClassVar[Space] = {
        "weight": Between(1.0, 100.0, log=True),
        "alpha": Between(0.1, 1.0, log=True),
        "temperature": Between(0.25, 1.0, log=True),
    }

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        return _mixing.draw(rng, self.alpha, size[0], self.batch + 2 * size[1])

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        first, second = net(frozen(params), batch.weak, batch.other)
        q = _mixing.sharpened(self.temperature, first, second)
        rows, targets = _mixing.mixed(
            torch.cat([batch.x, batch.weak, batch.other]),
            torch.cat([one_hot(batch.y, q), q, q]),
            batch.noise,
        )
        logits, count = net(params, rows), len(batch.y)
        unlabeled = mse_loss(logits[count:].softmax(-1), targets[count:])
        weight = self.weight * self.ramp(batch, self.warmup)
        return cross_entropy(logits[:count], targets[:count]), weight * unlabeled, state
