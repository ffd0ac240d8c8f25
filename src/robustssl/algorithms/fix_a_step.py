"""Fix-A-Step (Huang et al., 2023: arXiv:2208.11870)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch

from robustssl.algorithms import _mixing
from robustssl.algorithms._guesses import trusted
from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    State,
    Tensor,
    cross_entropy,
    frozen,
    one_hot,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class FixAStep(DeepClassifier):
    """FixMatch in which labeled rows are mixed with as many unlabeled ones, and the unlabeled
    gradient is dropped in every step in which it opposes the labeled one.

    alpha: of the Beta distribution of the mixtures.

    Departures: none.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    alpha: _mixing.Concentration = 0.5
    temperature: Positive = 0.5
    ratio: Count = 7

    targets: ClassVar[dict[str, str]] = {"label": "arXiv:2208.11870, abstract"}
    collapses: ClassVar[dict[str, str]] = {
        "blobs": "-.015 (20 seeds): labeled rows are mixed with unlabeled ones; +.002 with alpha=.1"
    }
    views = ("weak", "other", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "tufts-ml/fix-a-step: runs/CIFAR10, nlabels4000/FM_FixAStep",
            {},
        ),
        "reference": Preset("YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/Fix_A_Step.py", {"alpha": 0.75}),
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "weight": Between(0.1, 3.0, log=True),
        "alpha": Between(0.1, 1.0, log=True),
    }

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        return _mixing.draw(rng, self.alpha, size[0], 3 * self.batch, shared=True)

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        count = len(batch.y)
        first, second = net(frozen(params), batch.weak, batch.other[:count])
        q = _mixing.sharpened(self.temperature, first[:count], second)
        rows, targets = _mixing.mixed(
            torch.cat([batch.x, batch.weak[:count], batch.other[:count]]),
            torch.cat([one_hot(batch.y, q), q, q]),
            batch.noise,
        )
        labeled, strong = net(params, rows[:count], batch.strong)
        unlabeled = self.weight * trusted(first, strong, self.threshold).mean()
        return cross_entropy(labeled, targets[:count]), unlabeled, state

    def combine(self, labeled: Tensor, unlabeled: Tensor, state: State) -> tuple[Tensor, State]:
        return labeled + unlabeled * ((labeled * unlabeled).sum() >= 0), state
