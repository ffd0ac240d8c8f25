"""Bidirectional Adaptation (Jia et al., 2023, ICML), for another data distribution."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import nn

from robustssl.algorithms._guesses import trusted
from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy, frozen
from robustssl.method import Preset
from robustssl.spec import NotNegative, Range


@dataclass(eq=False, repr=False, kw_only=True)
class BidirectionalAdaptation(DeepClassifier):
    """Two nets. The first labels the unlabeled rows, so its labeled rows are weighted to resemble
    the unlabeled ones; the second predicts, so the unlabeled rows it learns from are weighted to
    resemble the labeled ones.

    bound: the largest weight. Weights match the means of the features within a batch (kernel mean
    matching with a linear kernel).
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    bound: Annotated[float, Range(least=1)] = 10.0

    targets: ClassVar[dict[str, str]] = {"distribution": "the abstract"}
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("YGZWQZD/Bidirectional-Adaptation: Algorithm/BDA.py", {"ratio": 7})
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {"labeler": build()}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        x, weak, strong = net.part("labeler.features", params, batch.x, batch.weak, batch.strong)
        to_there = matching(x.detach(), weak.detach(), self.bound)
        x, weak, strong = net.part("labeler.head", params, x, weak, strong)
        taught = (to_there * cross_entropy(x, batch.y, reduction="none")).mean()
        taught_itself = trusted(weak, strong, self.threshold).mean()

        features = net.part("net.features", frozen(params), batch.x, batch.weak)
        to_here = matching(features[1], features[0], self.bound)
        known, answer = net(params, batch.x, batch.strong)
        learned = (to_here * trusted(weak, answer, self.threshold)).mean()
        labeled = taught + cross_entropy(known, batch.y)
        return labeled, self.weight * (taught_itself + learned), state


def matching(rows: Tensor, others: Tensor, bound: float, steps: int = 50) -> Tensor:
    """Weights in [0, bound] that bring the mean of the rows closest to the mean of the others, and
    their own mean close to 1: projected gradient descent on |mean(w z) - mean(z')|^2 + c (mean(w) -
    1)^2, where c is the mean of |z|^2.
    """
    size = rows.square().sum(-1).mean().sqrt().clamp(min=1e-6)
    one = torch.ones_like(rows[:, :1])
    rows, goal = torch.cat([rows, size * one], 1), torch.cat([others.mean(0), size[None]])
    rate = len(rows) / rows.square().sum()
    weights = torch.ones_like(rows[:, 0])
    for _ in range(steps):
        off = (weights[:, None] * rows).mean(0) - goal
        weights = (weights - rate * (rows @ off)).clamp(0, bound)
    return weights
