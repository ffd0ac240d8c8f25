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

from robustssl.algorithms._guesses import mean_of
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
from robustssl.method import Preset
from robustssl.spec import Decay, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class CAFA(DeepClassifier):
    """Align the features of labeled and unlabeled rows, but only of classes that both sets have. A
    discriminator D' learns which set a row belongs to; s(x) is how much a small step changes the
    confidence in a row. Labeled rows are weighted by D'(x) - s(x), unlabeled rows by s(u) - D'(u).
    A second discriminator D learns the same task from weighted rows, and the features learn to
    mislead it. Classes are weighted by the weights of their labeled rows; guesses that are
    confident after this calibration are the targets of a Pi-Model.

    adversary: the final weight of misleading D. It is small, since few labeled rows are soon told
    apart from all others. The discriminators learn from the first step.
    step: the length of the step in s, along the sign of the gradient.
    memory: the decay of the average class weights, which are updated in every step, not once an
    epoch. The weight of a row is that of this step, not of its previous visit.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 5.0
    adversary: NotNegative = 0.03
    temperature: Positive = 0.5
    step: NotNegative = 0.0014
    alpha: Concentration = 0.75
    warmup: Positive = 0.4
    memory: Decay = 0.99

    targets: ClassVar[dict[str, str]] = {"distribution": "the abstract", "label": "the abstract"}
    views = ("weak", "other")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("josephioos/cafa: train_cafa.py", {"weight": 10.0, "adversary": 1.0})
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        def discriminator() -> nn.Module:
            hidden = [nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU()]
            return nn.Sequential(*hidden, nn.Linear(16, 1), nn.Flatten(0))

        return {"misled": discriminator(), "domain": discriminator()}

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """For each labeled row its share in a mixture, and numbers that choose its partner."""
        share = rng.beta(self.alpha, self.alpha, (size[0], self.batch, 1))
        ranks = rng.random((size[0], self.batch, size[1]))
        return np.concatenate([np.maximum(share, 1 - share), ranks], 2)

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
        target = guess.detach().softmax(-1) * classes
        target = target / target.sum(-1, keepdim=True).clamp(min=1e-12)
        trust = w_u * (target.amax(-1) >= self.threshold)
        agree = (trust * ((answer.softmax(-1) - target) ** 2).mean(-1)).mean()

        tells = softplus(here).mean() + softplus(-there).mean()
        tells = tells + self._between(net, params, batch, x.detach(), weak.detach(), guess)
        strength = self.adversary * self.slow_ramp(batch, 2 * self.warmup)
        here, there = net.part("misled", params, reversed_(x, strength), reversed_(weak, strength))
        misleads = (w_x * softplus(here)).mean() + (w_u * softplus(-there)).mean()
        weight = self.weight * self.slow_ramp(batch, self.warmup)
        unlabeled = weight * agree + tells + misleads
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
        """How much the confidence in a row changes after a small step towards its guess."""

        def doubt(rows: Tensor) -> Tensor:
            logits = net.plain(params, rows) / self.temperature
            return cross_entropy(logits, logits.argmax(-1), reduction="sum")

        def confidence(rows: Tensor) -> Tensor:
            logits: Tensor = net.plain(params, rows) / self.temperature
            return logits.softmax(-1).amax(-1)

        moved = rows - self.step * grad(doubt)(rows).sign()
        return (confidence(rows) - confidence(moved)).abs().to(rows.dtype)

    def _between(
        self, net: Net, params: Tensor, batch: Batch, x: Tensor, weak: Tensor, guess: Tensor
    ) -> Tensor:
        """The loss of D' on mixtures of a labeled row with an unlabeled one that is guessed to be
        of its class.
        """
        same = batch.y[:, None] == guess.argmax(-1)
        share, pick = batch.noise[:, 0], batch.noise[:, 1:].masked_fill(~same, -1).argmax(1)
        partner = weak[pick]
        wide = share[:, None]
        told = net.part("domain", params, wide * x + (1 - wide) * partner)
        alike = cosine_similarity(x, partner).clamp(min=0)
        return mean_of(same.any(1), alike * binary(told, 1 - share, reduction="none"))

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        told: Tensor = net.part("domain", params, net.part("net.features", params, rows))
        return told.sigmoid()


def reversed_(features: Tensor, strength: Tensor) -> Tensor:
    """The same features; the gradient that flows back through them is multiplied by -strength."""
    return (1 + strength) * features.detach() - strength * features


def scaled(scores: Tensor) -> Tensor:
    """Scaled linearly to [0, 1] within the batch."""
    low, high = scores.amin(), scores.amax()
    return (scores - low) / (high - low).clamp(min=1e-12)
