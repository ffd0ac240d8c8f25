"""AdaMatch (Berthelot et al., 2022: arXiv:2106.04732)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch

from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    Shape,
    State,
    Tensor,
    cross_entropy,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, Decay, NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class AdaMatch(DeepClassifier):
    """FixMatch for unlabeled rows from another domain. A guess is aligned: multiplied by the mean
    prediction on labeled rows, divided by that on unlabeled rows, and normalised. It is trusted if
    its confidence is at least `threshold` times the mean confidence on labeled rows. The logits of
    a labeled row are drawn between those of a pass together with the unlabeled rows and those of a
    pass without them; the two differ in nets with batch normalisation.

    memory: the decay of the mean prediction on labeled rows; the authors' .999 is for longer runs.
    window: the number of latest batches that the mean prediction on unlabeled rows covers.

    Departures: memory .99 instead of .999, since runs are a thousand times shorter.
    """

    threshold: NotNegative = 0.9
    weight: NotNegative = 1.0
    memory: Decay = 0.99
    window: Count = 128
    ratio: Count = 3

    version = 3
    targets: ClassVar[dict[str, str]] = {
        "consistent": "arXiv:2106.04732, abstract",
        "distribution": "arXiv:2106.04732, abstract",
    }
    views = ("weak", "strong", "x_strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "google-research/adamatch: domain_adaptation/adamatch.py", {"memory": 0.999}
        )
    }
    space: ClassVar[Space] = {
        "threshold": (0.7, 0.8, 0.9, 0.95),
        "weight": Between(0.1, 3.0, log=True),
        "memory": (0.9, 0.99, 0.999),
    }

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """For each labeled row and class, where its logit lies between those of the two passes."""
        return rng.random((size[0], 2 * self.batch, len(self.classes_)), np.float32)

    def init(self, params: Tensor, shape: Shape) -> State:
        even = params.new_full((shape.classes,), 1 / shape.classes)
        return {"labeled": even, "unlabeled": even.expand(self.window, -1)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        x, x_strong, weak, strong = net(params, batch.x, batch.x_strong, batch.weak, batch.strong)
        joint = torch.cat([x, x_strong])
        alone = torch.cat(net(params, batch.x, batch.x_strong))
        logits = alone + batch.noise * (joint - alone)
        labeled = cross_entropy(logits, torch.cat([batch.y, batch.y]))

        known, guess = logits[: len(x)].detach().softmax(-1), weak.detach().softmax(-1)
        here = torch.lerp(known.mean(0), state["labeled"], self.memory)
        now = torch.arange(self.window, device=guess.device) == batch.step.remainder(self.window)
        latest = torch.where(now[:, None], guess.mean(0), state["unlabeled"])
        aligned = guess * (here + 1e-6) / (latest.mean(0) + 1e-6)
        confidence, label = (aligned / aligned.sum(-1, keepdim=True)).max(-1)
        trust = confidence >= relative_threshold(self.threshold, known)
        unlabeled = trust.to(strong.dtype) * cross_entropy(strong, label, reduction="none")
        turn = torch.clamp(2 * math.pi * batch.step / self.steps, max=math.pi)
        weight = self.weight * (1 - torch.cos(turn)) / 2
        after = {**state, "labeled": here, "unlabeled": latest}
        return labeled, weight * unlabeled.mean(), after


def relative_threshold(share: float, known: Tensor) -> Tensor:
    """A share of the mean confidence on labeled rows."""
    return share * known.amax(-1).mean()
