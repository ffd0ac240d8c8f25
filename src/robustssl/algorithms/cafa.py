"""CAFA (Huang et al., 2021, NeurIPS: Universal Semi-Supervised Learning)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

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
from robustssl.spec import Decay, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class CAFA(DeepClassifier):
    """Bring labeled and unlabeled features together, but only of classes that both have. One
    discriminator D' learns which set a row is of; with s, how much a small step changes the answer,
    it weights rows: D'(x) - s(x) of labeled ones, s(u) - D'(u) of unlabeled ones. The other, D,
    learns the same of weighted rows and is misled by the features. Classes are weighted by their
    labeled rows; so calibrated, confident guesses are the targets of a Pi-Model.

    adversary: how much features are to mislead, in the end; few labeled rows are soon told from
    all others. The discriminators learn from the first step on.
    step: of s, along the sign of the gradient. Weights are those of this visit of a row, not of
    its last; those of classes are averaged with `decay`, so that they do not wait for an epoch.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 5.0
    adversary: NotNegative = 0.03
    temperature: Positive = 0.5
    step: NotNegative = 0.0014
    alpha: Concentration = 0.75
    warmup: Positive = 0.4
    decay: Decay = 0.99

    targets = frozenset({"distribution", "label"})
    views = ("weak", "other")
    presets: ClassVar[dict[str, dict[str, Any]]] = {"paper": {"weight": 10.0, "adversary": 1.0}}

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        def discriminator() -> nn.Module:
            hidden = [nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU()]
            return nn.Sequential(*hidden, nn.Linear(16, 1), nn.Flatten(0))

        return {"misled": discriminator(), "domain": discriminator()}

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """For each labeled row its share in a mixture, and numbers that rank the rows to mix."""
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
        mixed = torch.lerp(mean, state["classes"], self.decay)
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
        """Of labeled and of unlabeled rows, of mean 1."""
        exact = frozen(state["params"])
        shift_x, shift_u = (scaled(self._shift(net, exact, u)) for u in (batch.x, batch.weak))
        w_x, w_u = scaled(here.sigmoid() - shift_x), scaled(shift_u - there.sigmoid())
        return w_x / w_x.mean().clamp(min=1e-6), w_u / w_u.mean().clamp(min=1e-6)

    def _shift(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        """How much the confidence changes where a row moves towards its guess."""

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
        """D' on mixtures of a labeled row and an unlabeled one that is guessed to be like it."""
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
    """The same, but what is learned from them is unlearned by those before, so much."""
    return (1 + strength) * features.detach() - strength * features


def scaled(scores: Tensor) -> Tensor:
    """From 0 to 1 over the batch."""
    low, high = scores.amin(), scores.amax()
    return (scores - low) / (high - low).clamp(min=1e-12)
