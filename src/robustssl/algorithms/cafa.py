"""CAFA (Huang et al., 2021, NeurIPS: Universal Semi-Supervised Learning)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.func import grad
from torch.nn.functional import binary_cross_entropy_with_logits as binary
from torch.nn.functional import cosine_similarity, softplus

from robustssl.algorithms._mixing import Concentration
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
    one_hot,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Decay, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class CAFA(DeepClassifier):
    """Align the features of labeled and unlabeled rows, but only of classes that both sets have. A
    discriminator D' learns which set a row belongs to; s(x) is how much a small step changes the
    confidence in a row. Labeled rows are weighted by D'(x) - s(x), unlabeled rows by s(u) - D'(u).
    A second discriminator D learns the same task from weighted rows, and the features learn to
    mislead it. Classes are weighted by the weights of their labeled rows, scaled to [0, 1]; guesses
    that are multiplied by them are the targets of a Pi-Model.

    step: the length of the step in s, along the sign of the gradient.
    adversary: the weight of both discriminators' losses.
    warmup: the share of the steps in which the weight rises; that of the discriminators rises twice
    as long.
    memory: the decay of the class weights.

    Departures: class weights are averages over steps, not means of an epoch, and the weight of a
    row is that of this step, not of its previous visit; a labeled row is mixed with the unlabeled
    row of the same rank by confidence among those guessed to be of its class, where the authors
    swap rows one after the other; guesses are probabilities from the first step; equal class
    weights count as 1; no dropout in the discriminators, which learn at the rate of the net.
    """

    weight: NotNegative = 1.0
    adversary: NotNegative = 1.0
    step: NotNegative = 0.0014
    alpha: Concentration = 0.75
    warmup: Positive = 4 / 15
    memory: Decay = 0.99

    version = 3
    targets: ClassVar[dict[str, str]] = {
        "distribution": "NeurIPS 2021, abstract",
        "label": "NeurIPS 2021, abstract",
    }
    collapses: ClassVar[dict[str, str]] = {
        "blobs": "-.15 (20 seeds): class weights are scaled to [0, 1], so that the class of the "
        "least weight is never guessed",
        "moons_in_16_features": "as on blobs: .51, without class weights .80, baseline .82",
        "digits": "as on blobs: .70, without class weights .76, baseline .80",
        "weak_signal_in_128_features": "as on blobs: with two classes one is left, .50",
        "vectors_of_images": ".34, without class weights .36, baseline .43: features that mislead "
        "a discriminator of 40 labeled rows from all others lose the classes",
    }
    views = ("weak", "other")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("josephioos/cafa: train_cafa.py, utils.py, lib/alg/pimodel.py", {})
    }
    space: ClassVar[Space] = {
        "weight": Between(0.1, 3.0, log=True),
        "adversary": Between(0.1, 3.0, log=True),
        "warmup": Between(0.1, 0.8),
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        def discriminator() -> nn.Module:
            hidden = [nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU()]
            return nn.Sequential(*hidden, nn.Linear(16, 1), nn.Flatten(0))

        return {"misled": discriminator(), "domain": discriminator()}

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """The share of the labeled row in the mixtures of a step."""
        share = rng.beta(self.alpha, self.alpha, (size[0], 1))
        return np.maximum(share, 1 - share)

    def init(self, params: Tensor, shape: Shape) -> State:
        return {"classes": params.new_ones(shape.classes)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        x, weak, other = net.part("net.features", params, batch.x, batch.weak, batch.other)
        known, guess, answer = net.part("net.head", params, x, weak, other)
        here, there = net.part("domain", params, x.detach(), weak.detach())
        w_x, w_u = self._weights(net, batch, state, here.detach(), there.detach())

        own = one_hot(batch.y, known)
        seen, mean = own.sum(0), (own * w_x[:, None]).sum(0) / own.sum(0).clamp(min=1)
        mixed = torch.lerp(mean, state["classes"], self.memory)
        classes = torch.where(seen > 0, mixed, state["classes"])
        target = guess.detach().softmax(-1) * scaled(classes, equal=1.0)
        target = target / target.sum(-1, keepdim=True).clamp(min=1e-12)
        agree = (w_u * ((answer.softmax(-1) - target) ** 2).mean(-1)).mean()

        tells = softplus(here).mean() + softplus(-there).mean()
        tells = tells + self._between(net, params, batch, x.detach(), weak.detach(), guess)
        strength = torch.tanh(1.5 * batch.step / self.steps)  # 2 x 15,000 passes of 100,000
        here, there = net.part("misled", params, reversed_(x, strength), reversed_(weak, strength))
        misleads = (w_x * softplus(here)).mean() + (w_u * softplus(-there)).mean()
        weight = self.weight * self.slow_ramp(batch, self.warmup)
        adversary = self.adversary * self.slow_ramp(batch, 2 * self.warmup)
        unlabeled = weight * agree + adversary * (tells + misleads)
        return cross_entropy(known, batch.y), unlabeled, {**state, "classes": classes}

    def _weights(
        self, net: Net, batch: Batch, state: State, here: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The weights of labeled and of unlabeled rows, each with mean 1."""
        exact = frozen(state["params"])
        shift_x, shift_u = (scaled(self._shift(net, exact, u)) for u in (batch.x, batch.weak))
        w_x, w_u = scaled(here.sigmoid() - shift_x), scaled(shift_u - there.sigmoid())
        return w_x / w_x.mean().clamp(min=1e-6), w_u / w_u.mean().clamp(min=1e-6)

    def _shift(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        """How much the confidence in a row changes after a small step towards its guess. Twice the
        probabilities are taken as logits, as in the authors' code.
        """

        def doubt(rows: Tensor) -> Tensor:
            sharp = 2 * net.plain(params, rows).softmax(-1)
            return cross_entropy(sharp, sharp.argmax(-1), reduction="sum")

        def confidence(rows: Tensor) -> Tensor:
            sharp: Tensor = 2 * net.plain(params, rows).softmax(-1)
            return sharp.amax(-1)

        moved = rows - self.step * grad(doubt)(rows).sign()
        return (confidence(rows) - confidence(moved)).abs().to(rows.dtype)

    def _between(
        self, net: Net, params: Tensor, batch: Batch, x: Tensor, weak: Tensor, guess: Tensor
    ) -> Tensor:
        """The loss of D' on mixtures of a labeled row with an unlabeled one, if possible with one
        that is guessed to be of its class.
        """
        partner = weak[matched(batch.y, guess.detach())]
        share = batch.noise
        told = net.part("domain", params, share * x + (1 - share) * partner)
        alike = scaled(cosine_similarity(x, partner))
        target = (1 - share).expand_as(told)
        return (alike * binary(told, target, reduction="none")).mean()

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        told: Tensor = net.part("domain", params, net.part("net.features", params, rows))
        return told.sigmoid()


def reversed_(features: Tensor, strength: Tensor) -> Tensor:
    """The same features; the gradient that flows back through them is multiplied by -strength."""
    return (1 + strength) * features.detach() - strength * features


def matched(y: Tensor, guess: Tensor) -> Tensor:
    """For each labeled row an unlabeled row: the k-th row of a class gets the k-th most confident
    of those guessed to be of that class; if there are too few, the row at its own place.
    """
    confidence, label = guess.max(-1)
    before = torch.ones(len(y), len(y), dtype=torch.bool, device=y.device).tril(-1)
    rank = ((y[:, None] == y) & before).sum(1)
    surer = (label[:, None] == label) & (confidence > confidence[:, None])
    pairs = (y[:, None] == label) & (rank[:, None] == surer.sum(1))
    return torch.where(pairs.any(1), pairs.long().argmax(1), torch.arange(len(y), device=y.device))


def scaled(scores: Tensor, equal: float = 0.0) -> Tensor:
    """Scaled linearly to [0, 1] within the batch; what scores become that are all equal."""
    low, high = scores.amin(), scores.amax()
    apart = (scores - low) / (high - low).clamp(min=1e-12)
    return torch.where(high > low, apart, torch.full_like(apart, equal))
