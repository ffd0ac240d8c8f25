"""SoftMatch (Chen et al., 2023: arXiv:2301.10921)."""

from dataclasses import dataclass
from typing import ClassVar

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
    frozen,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, Decay, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class SoftMatch(DeepClassifier):
    """FixMatch with a weight instead of a threshold: exp(-min(c - mu, 0)^2 sigmas^2 / (2 sigma^2)),
    where mu and sigma^2 are running averages of the mean and the variance of the confidence c. For
    c, but not for the guess, predictions are divided by their average over rows.

    memory: the decay of the averages.

    Departures: memory .99 instead of .999, since runs are a thousand times shorter.
    """

    weight: NotNegative = 1.0
    sigmas: Positive = 2.0
    memory: Decay = 0.99
    ratio: Count = 7

    targets: ClassVar[dict[str, str]] = {
        "prior": "arXiv:2301.10921, abstract: imbalanced classification"
    }
    collapses: ClassVar[dict[str, str]] = {
        "weak_signal_in_128_features": "at first nearly every guess of the untrained net is "
        "trusted, as in the authors' code: .51, with a ramp of the weight .80, baseline .77 "
        "(10 seeds)"
    }
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "microsoft/Semi-supervised-learning: config/classic_cv/softmatch", {"memory": 0.999}
        ),
        "reference": Preset("YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/SoftMatch.py", {"memory": 0.999}),
    }
    space: ClassVar[Space] = {
        "weight": Between(0.1, 3.0, log=True),
        "sigmas": Between(0.5, 4.0, log=True),
        "memory": (0.9, 0.99, 0.999),
    }

    def init(self, params: Tensor, shape: Shape) -> State:
        even = params.new_full((shape.classes,), 1 / shape.classes)
        return {"mean": even[0], "variance": torch.ones_like(even[0]), "p": even}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        guess = net(frozen(params), batch.weak).softmax(-1)
        labeled, strong = net(params, batch.x, batch.strong)
        earlier = torch.where(batch.step > 0, state["p"], guess.mean(0))  # the first batch's mean
        p = torch.lerp(guess.mean(0), earlier, self.memory)
        aligned = guess / (p + 1e-6)
        confidence = (aligned / aligned.sum(-1, keepdim=True)).amax(-1)
        mean = torch.lerp(confidence.mean(), state["mean"], self.memory)
        variance = torch.lerp(
            confidence.var(correction=min(1, len(confidence) - 1)), state["variance"], self.memory
        )
        below = (confidence - mean).clamp(max=0)
        trust = torch.exp(-(below**2) * self.sigmas**2 / (2 * variance))
        unlabeled = trust * cross_entropy(strong, guess.argmax(-1), reduction="none")
        after = {**state, "mean": mean, "variance": variance, "p": p}
        return cross_entropy(labeled, batch.y), self.weight * unlabeled.mean(), after
