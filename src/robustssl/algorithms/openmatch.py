"""OpenMatch (Saito et al., 2021: arXiv:2105.14148)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from robustssl.algorithms._guesses import (
    accepted,
    disagreement,
    entropy,
    mean_of,
    one_against_all,
    trusted,
)
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
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class OpenMatch(DeepClassifier):
    """A one-against-all detector o says for every class whether a row belongs to it. FixMatch sees
    the rows for which the detector of the guessed class says yes: o > 1/2. On unlabeled rows o is
    trained to be certain (entropy) and equal in two views (agreement).

    start: the share of the steps before FixMatch begins. The averaged parameters say which rows it
    sees.

    Departures: rows are accepted in every step and not once an epoch, since an epoch, 1/512 of the
    authors' steps, is about one step here; the accepted rows of a batch are averaged, where the
    authors fill a batch with accepted rows; a row is accepted by its weak view, theirs by a third
    view that is flipped alone; a detector is the sigmoid of one logit, not the softmax
    of two.
    """

    ratio: Count = 2
    threshold: NotNegative = 0.0
    weight: NotNegative = 1.0
    entropy: NotNegative = 0.1
    agreement: NotNegative = 0.5
    start: Share = 10 / 512

    version = 3
    targets: ClassVar[dict[str, str]] = {"label": "arXiv:2105.14148, abstract"}
    views = ("weak", "other", "strong", "x_other")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("VisionLearningGroup/OP_Match: run_cifar10.sh, utils/parser.py", {})
    }
    space: ClassVar[Space] = {
        "weight": Between(0.1, 3.0, log=True),
        "entropy": Between(0.01, 1.0, log=True),
        "agreement": Between(0.05, 2.0, log=True),
        "start": Between(0.01, 0.5, log=True),
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {"detector": nn.Linear(features, classes, bias=False)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        x, both = torch.cat([batch.x, batch.x_other]), torch.cat([batch.y, batch.y])
        z = net.part("net.features", params, x, batch.weak, batch.other)
        known, one, two = net.part("detector", params, *z)
        labeled = cross_entropy(net.part("net.head", params, z[0]), both)
        labeled = labeled + one_against_all(known, both)
        unsure = (entropy(one) + entropy(two)) / 2
        detector = self.entropy * unsure + self.agreement * disagreement(one, two)

        weak, strong = net(params, batch.weak, batch.strong)
        inside = accepted(net, frozen(state["average"]), batch.weak) > 0.5
        begun = batch.step >= self.start * self.steps
        fixed = mean_of(inside & begun, trusted(weak, strong, self.threshold))
        return labeled, detector + self.weight * fixed, state

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        return 1 - accepted(net, params, rows)
