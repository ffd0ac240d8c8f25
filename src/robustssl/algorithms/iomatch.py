"""IOMatch (Li et al., 2023: arXiv:2308.13168)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from robustssl.algorithms._guesses import one_against_all
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
from robustssl.method import Preset
from robustssl.spec import Count, Decay, NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class IOMatch(DeepClassifier):
    """Learn from inliers and outliers at once. Guesses p (aligned to equal class shares) and a
    one-against-all detector o make a target of K + 1 classes, q_k = p_k o_k and the rest for
    outliers, which an open head learns on the strong view. The closed head learns confident guesses
    of rows that are more probably inliers than outliers.

    start: the share of the steps before the open head learns from unlabeled rows.
    memory: the decay of the mean prediction; the authors take the mean of their last 128 batches.
    """

    threshold: NotNegative = 0.95
    open_threshold: NotNegative = 0.5
    weight: NotNegative = 1.0
    open_weight: NotNegative = 1.0
    width: Count = 128
    start: Share = 0.1
    memory: Decay = 0.99

    targets: ClassVar[dict[str, str]] = {"label": "the abstract"}
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("nukezil/IOMatch: config", {"ratio": 7, "start": 1 / 256, "memory": 0.992})
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {
            "projection": nn.Sequential(
                nn.Linear(features, self.width), nn.ReLU(), nn.Linear(self.width, self.width)
            ),
            "detector": nn.Linear(self.width, classes),
            "open": nn.Linear(self.width, classes + 1),
        }

    def init(self, params: Tensor, shape: Shape) -> State:
        return {"p": params.new_full((shape.classes,), 1 / shape.classes)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        z, strong = net.part("net.features", params, batch.x, batch.strong)
        projected, strong_projected = net.part("projection", params, z, strong)
        labeled = cross_entropy(net.part("net.head", params, z), batch.y)
        labeled = labeled + one_against_all(net.part("detector", params, projected), batch.y)

        still = frozen(params)
        weak = net.part("net.features", still, batch.weak)
        guess = net.part("net.head", still, weak).softmax(-1)
        p = torch.lerp(guess.mean(0), state["p"], self.memory)
        guess = guess / p
        guess = guess / guess.sum(-1, keepdim=True)
        o = net.part("detector", still, net.part("projection", still, weak)).sigmoid()
        out = (guess * (1 - o)).sum(-1)
        target = torch.cat([guess * o, out[:, None]], -1)

        closed = cross_entropy(net.part("net.head", params, strong), guess, reduction="none")
        trust = (out < 0.5) & (guess.amax(-1) >= self.threshold)
        opened = net.part("open", params, strong_projected)
        opened = cross_entropy(opened, target, reduction="none")
        open_trust = (target.amax(-1) >= self.open_threshold) & (
            batch.step >= self.start * self.steps
        )
        unlabeled = self.weight * (trust * closed).mean()
        unlabeled = unlabeled + self.open_weight * (open_trust * opened).mean()
        return labeled, unlabeled, {**state, "p": p}

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        z = net.part("projection", params, net.part("net.features", params, rows))
        return net.part("open", params, z).softmax(-1)[:, -1]
