"""Bidirectional Adaptation (Jia et al., 2023, ICML), for another data distribution."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    Rows,
    Shape,
    State,
    Tensor,
    cross_entropy,
    one_hot,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class BidirectionalAdaptation(DeepClassifier):
    """Two nets, one after the other. The first adapts to the unlabeled rows, and then guesses their
    labels: the maximum mean discrepancy of labeled and unlabeled rows, in a layer of 256 units
    behind its features, is part of its loss. The second adapts to the labeled rows, and predicts:
    it learns the guesses of the first, and weights each row by its own confidence in the guess,
    divided by the mean confidence in guesses of that class, and by the share of the class among the
    labels, divided by its share among the guesses.

    transfer: the weight of the discrepancy in the first net. weight: that of the unlabeled rows in
    the second one.

    Departures: the second net lacks the layer of 256 units, since it is the net of the baseline;
    predictions use BatchNorm statistics of all rows, not of the labeled rows alone; rows are
    labeled by the averaged parameters of the first net.
    """

    transfer: NotNegative = 0.5
    weight: NotNegative = 0.1

    version = 3
    targets: ClassVar[dict[str, str]] = {"distribution": "ICML 2023, abstract"}
    views = ("weak",)
    stages = ("adapt", "loss")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("YGZWQZD/Bidirectional-Adaptation: BDA.py", {})
    }
    space: ClassVar[Space] = {
        "transfer": Between(0.1, 2.0, log=True),
        "weight": Between(0.01, 1.0, log=True),
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        layer = nn.Sequential(nn.Linear(features, 256), nn.ReLU())
        return {"shared": layer, "labeler": nn.Linear(256, classes)}

    def init(self, params: Tensor, shape: Shape) -> State:
        """The guesses of the first net, the weight of each class that follows from them, and the
        number and the sum of the second net's confidences in them, by class.
        """
        none = params.new_zeros(shape.classes)
        guesses = params.new_zeros((shape.rows, shape.classes))
        return {"guesses": guesses, "classes": none, "count": none, "sum": none}

    def adapt(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        x, u = shared(net, params, batch.x), shared(net, params, batch.weak)
        labeled = cross_entropy(net.part("labeler", params, x), batch.y)
        return labeled, self.transfer * discrepancy(x, u), state

    def handover(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        guesses = net.part("labeler", params, shared(net, params, rows.unlabeled)).softmax(-1)
        guessed = one_hot(guesses.argmax(-1), guesses)[: rows.count].sum(0)
        labels = one_hot(rows.y, guesses)[: rows.labels].mean(0)
        return {
            **state,
            "guesses": guesses,
            "classes": labels * rows.count / guessed.clamp(min=1),
        }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        labeled = cross_entropy(net(params, batch.x), batch.y)
        u = net(params, batch.weak)
        guess = state["guesses"][batch.index]
        label = guess.argmax(-1)
        confidence = u.detach().softmax(-1).gather(1, label[:, None])[:, 0]
        own = one_hot(label, u)
        count = state["count"] + own.sum(0)
        total = state["sum"] + confidence @ own
        least = torch.finfo(u.dtype).tiny  # a confidence may be 0
        weight = confidence / (total / count.clamp(min=1)).clamp(min=least)[label]
        weight = weight / weight.mean().clamp(min=least) * state["classes"][label]
        unlabeled = (weight * cross_entropy(u, guess, reduction="none")).mean()
        return labeled, self.weight * unlabeled, {**state, "count": count, "sum": total}


def shared(net: Net, params: Tensor, rows: Tensor) -> Tensor:
    """The features of the first net in which labeled and unlabeled rows resemble each other."""
    features: Tensor = net.part("shared", params, net.part("net.features", params, rows))
    return features


def discrepancy(x: Tensor, u: Tensor) -> Tensor:
    """The squared maximum mean discrepancy of two sets of rows. The kernel is a sum of five
    exp(-d / b), where d is the squared distance of two rows and b its mean over all pairs, times
    1/4, 1/2, 1, 2 and 4.
    """
    rows = torch.cat([x, u])
    rows = rows - rows.mean(0)  # distances stay as they are, and are rounded less
    squares = rows.square().sum(-1)
    distance = (squares[:, None] + squares - 2 * rows @ rows.T).clamp(min=0)
    pairs = len(rows) * (len(rows) - 1)
    width = (distance.detach().sum() / pairs).clamp(min=1e-12)  # of rows that are all the same
    kernel = sum(torch.exp(-distance / (width * 2.0**k)) for k in range(-2, 3))
    of_x, of_u = kernel.split([len(x), len(u)])  # type: ignore[union-attr]
    within = of_x[:, : len(x)].mean() + of_u[:, len(x) :].mean()
    found: Tensor = within - 2 * of_x[:, len(x) :].mean()
    return found
