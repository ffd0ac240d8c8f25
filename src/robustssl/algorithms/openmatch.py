"""OpenMatch (Saito et al., 2021: arXiv:2105.14148)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn.functional import logsigmoid

from robustssl.algorithms._guesses import accepted, mean_of, one_against_all, trusted
from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    State,
    Tensor,
    cross_entropy,
    frozen,
)
from robustssl.method import Preset
from robustssl.spec import NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class OpenMatch(DeepClassifier):
    """A one-against-all detector o says for every class whether a row belongs to it. FixMatch sees
    the rows for which the detector of the guessed class says yes: o > 1/2. On unlabeled rows o is
    trained to be certain (entropy) and equal in two views (agreement).

    start: the share of the steps before FixMatch begins. Rows are accepted in every step, by the
    averaged parameters, not once an epoch: short runs have few epochs.
    entropy, agreement: two noisy views of a table's row differ less than those of an image, so
    agreement weighs more than the authors' and entropy less.
    """

    threshold: NotNegative = 0.0
    weight: NotNegative = 1.0
    entropy: NotNegative = 0.01
    agreement: NotNegative = 20.0
    start: Share = 0.1

    targets: ClassVar[dict[str, str]] = {"label": "the abstract"}
    views = ("weak", "other", "strong", "x_strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "VisionLearningGroup/OP_Match: run_cifar10.sh",
            {"ratio": 2, "start": 10 / 512, "entropy": 0.1, "agreement": 0.5},
        )
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {"detector": nn.Linear(features, classes)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        views = (batch.x, batch.x_strong, batch.weak, batch.other, batch.strong)
        z = net.part("net.features", params, *views)
        x, x_strong, weak, strong = net.part("net.head", params, z[0], z[1], z[2], z[4])
        detected = net.part("detector", params, *z[:4])
        labeled = (cross_entropy(x, batch.y) + cross_entropy(x_strong, batch.y)) / 2
        both = torch.cat([batch.y, batch.y])
        labeled = labeled + one_against_all(torch.cat(detected[:2]), both)
        one, two = detected[2].sigmoid(), detected[3].sigmoid()
        unsure = (entropy(detected[2]) + entropy(detected[3])) / 2
        differs = 2 * ((one - two) ** 2).sum(-1).mean()  # for o and for 1 - o
        inside = accepted(net, frozen(state["average"]), batch.weak) > 0.5
        begun = batch.step >= self.start * self.steps
        fixed = mean_of(inside & begun, trusted(weak, strong, self.threshold))
        unlabeled = self.entropy * unsure + self.agreement * differs + self.weight * fixed
        return labeled, unlabeled, state

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        return 1 - accepted(net, params, rows)


def entropy(logits: Tensor) -> Tensor:
    """The mean entropy of all detectors."""
    o = logits.sigmoid()
    return -(o * logsigmoid(logits) + (1 - o) * logsigmoid(-logits)).mean()
