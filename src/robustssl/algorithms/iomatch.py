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
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class IOMatch(DeepClassifier):
    """Learn from inliers and outliers at once. Guesses p (aligned to equal class shares) and a
    one-against-all detector o make a target of K + 1 classes, q_k = p_k o_k and the rest for
    outliers, which an open head learns on the strong view. The closed head learns confident guesses
    of rows that are more probably inliers than outliers.

    width: of the projection that the detector and the open head see.
    queue: the number of batches whose mean guess is aligned.
    start: the share of the steps before the open head learns from unlabeled rows.

    Departures: a detector is the sigmoid of one logit, not the softmax of two; guesses are aligned
    as in the authors' runs on CIFAR-100, while those on CIFAR-10 do not align them.
    """

    ratio: Count = 7
    threshold: NotNegative = 0.95
    open_threshold: NotNegative = 0.5
    weight: NotNegative = 1.0
    open_weight: NotNegative = 1.0
    width: Count = 128
    queue: Count = 128
    start: Share = 1 / 256

    version = 3
    targets: ClassVar[dict[str, str]] = {"label": "arXiv:2308.13168, abstract"}
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "nukezil/IOMatch: config/openset_cv/iomatch/iomatch_cifar100_200_0.yaml, "
            "semilearn/algorithms/iomatch/iomatch.py",
            {},
        )
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "open_threshold": Between(0.3, 0.7),
        "weight": Between(0.1, 3.0, log=True),
        "open_weight": Between(0.1, 3.0, log=True),
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {
            "projection": nn.Sequential(
                nn.Linear(features, features), nn.ReLU(), nn.Linear(features, self.width)
            ),
            "detector": nn.Linear(self.width, classes, bias=False),
            "open": nn.Linear(self.width, classes + 1),
        }

    def init(self, params: Tensor, shape: Shape) -> State:
        """The mean guess of each of the last batches; 0 for those to come."""
        return {"p": params.new_zeros((self.queue, shape.classes))}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        z = net.part("net.features", params, batch.x, batch.weak, batch.strong)
        x, weak, strong = net.part("net.head", params, *z)
        projected, weak_projected, strong_projected = net.part("projection", params, *z)
        known, found = net.part("detector", params, projected, weak_projected)
        labeled = cross_entropy(x, batch.y) + one_against_all(known, batch.y)

        guess = weak.detach().softmax(-1)
        place = batch.step.remainder(self.queue).long().expand(1)
        p = state["p"].index_copy(0, place, guess.mean(0, keepdim=True))
        guess = guess / (p.mean(0) + 1e-6)
        guess = guess / guess.sum(-1, keepdim=True)
        o = found.detach().sigmoid()
        out = (guess * (1 - o)).sum(-1)
        target = torch.cat([guess * o, out[:, None]], -1)

        closed = cross_entropy(strong, guess, reduction="none")
        trust = (out < 0.5) & (guess.amax(-1) >= self.threshold)
        opened = cross_entropy(net.part("open", params, strong_projected), target, reduction="none")
        begun = batch.step >= self.start * self.steps
        open_trust = begun & (target.amax(-1) >= self.open_threshold)
        unlabeled = self.weight * (trust * closed).mean()
        unlabeled = unlabeled + self.open_weight * (open_trust * opened).mean()
        return labeled, unlabeled, {**state, "p": p}

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        z = net.part("projection", params, net.part("net.features", params, rows))
        return net.part("open", params, z).softmax(-1)[:, -1]
