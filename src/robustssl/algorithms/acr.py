"""ACR (Wei and Gan, 2023, CVPR), an adaptive consistency regularizer for unknown class shares."""

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
from robustssl.spec import Count, Decay, NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class ACR(DeepClassifier):
    """FixMatch with a standard and a balanced head on the same features, for labels with a long
    tail; p are their class shares. The balanced head predicts, and learns labels with tau log p
    added to its logits. Both heads learn guesses of the standard head: the balanced one those of
    its logits less tau log p, the standard one those of its logits less s log p. The strength s is
    tau e^a / (e^a + e^b + e^c), where a, b and c are how far the estimated class shares of the
    unlabeled rows are from p, from equal shares and from p reversed. If p are equal shares, nothing
    is adjusted.

    memory: the decay of the estimated shares. start: the share of the steps before they are
    estimated; until then s is tau. epochs: how often s is set in a run.

    Departures: one strong view where the authors draw two; memory .9 instead of .99, since runs are
    shorter. As in the authors' code, the estimate counts classes and not rows: a class counts once
    in a step, if its last guess in the batch is confident.
    """

    threshold: NotNegative = 0.95
    tau: NotNegative = 2.0
    memory: Decay = 0.9
    start: Share = 6 / 500
    epochs: Count = 500

    targets: ClassVar[dict[str, str]] = {"prior": "Wei and Gan, CVPR 2023, abstract"}
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Gank0078/ACR: train.py, README.md", {"memory": 0.99})
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "tau": Between(0.5, 4.0, log=True),
    }

    @property
    def refresh_every(self) -> int:  # type: ignore[override]
        return self.steps

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {"standard": nn.Linear(features, classes)}

    def init(self, params: Tensor, shape: Shape) -> State:
        """The class shares of the labels, those of the unlabeled rows as estimated, the strength of
        the adjustment, and how far the estimate was from three shares, summed since it was set.
        """
        even = params.new_full((shape.classes,), 1 / shape.classes)
        return {
            "labels": even,
            "shares": even,
            "strength": params.new_tensor(self.tau),
            "distances": params.new_zeros(3),
        }

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        known = torch.arange(len(rows.y), device=params.device) < rows.labels
        counts = known.to(params.dtype) @ one_hot(rows.y, state["labels"][None])
        return {**state, "labels": counts / rows.labels}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        z = net.part("net.features", params, batch.x, batch.weak, batch.strong)
        x, weak, strong = net.part("standard", params, *z)
        x_even, weak_even, strong_even = net.part("net.head", params, *z)
        state = self._set(batch, state)
        own = (weak.detach() - adjustment(state["labels"], state["strength"])).softmax(-1)
        fixed = (weak.detach() - adjustment(state["labels"], self.tau)).softmax(-1)
        plain, even = weak.detach().softmax(-1), weak_even.detach().softmax(-1)

        labeled = cross_entropy(x_even + adjustment(state["labels"], self.tau), batch.y)
        trust = self._sure(own) | self._sure(plain)
        trust_even = self._sure(fixed) | self._sure(even)
        unlabeled = trust * cross_entropy(strong, own.argmax(-1), reduction="none")
        for_even = trust_even * cross_entropy(strong_even, fixed.argmax(-1), reduction="none")
        labeled = labeled + cross_entropy(x, batch.y)
        return labeled, (unlabeled + for_even).mean(), self._estimated(batch, even, state)

    def _sure(self, guess: Tensor) -> Tensor:
        return guess.amax(-1) >= self.threshold

    def _set(self, batch: Batch, state: State) -> State:
        """Set the strength at the start of an epoch, by the distances in the last one."""
        length = max(1, self.steps // self.epochs)
        due = (batch.step >= self.start * self.steps) & (batch.step.remainder(length) == 0)
        strength = self.tau * (state["distances"] / length).softmax(-1)[0]
        return {
            **state,
            "strength": torch.where(due, strength, state["strength"]),
            "distances": torch.where(due, 0, state["distances"]),
        }

    def _estimated(self, batch: Batch, guess: Tensor, state: State) -> State:
        """Estimate the class shares of the unlabeled rows, by guesses of the balanced head."""
        own = one_hot(guess.argmax(-1), guess)
        places = torch.arange(1, len(own) + 1, device=own.device)[:, None]
        last = (own * places).amax(0).long()  # 0 if the class is not guessed
        found = ((last > 0) & self._sure(guess)[(last - 1).clamp(min=0)]).to(guess.dtype)
        told = (batch.step >= self.start * self.steps) & (found.sum() > 0)
        now = torch.lerp(found / found.sum().clamp(min=1), state["shares"], self.memory)
        shares, p = torch.where(told, now, state["shares"]), state["labels"]
        others = torch.stack([p, torch.full_like(p, 1 / len(p)), reverse(p)])
        distances = state["distances"] + told * divergence(shares, others)
        return {**state, "shares": shares, "distances": distances}


def adjustment(shares: Tensor, strength: Tensor | float) -> Tensor:
    """What labels with these class shares add to logits, strength log p."""
    return (shares**strength + 1e-12).log()


def reverse(shares: Tensor) -> Tensor:
    """The shares with the largest and the smallest exchanged, the second and the last but one..."""
    ordered, places = shares.sort()
    return torch.zeros_like(shares).scatter(0, places, ordered.flip(0))


def divergence(p: Tensor, others: Tensor) -> Tensor:
    """The mean of both Kullback-Leibler divergences, from each of several shares."""
    p, others = p.clamp(min=1e-12), others.clamp(min=1e-12)
    return ((p - others) * (p.log() - others.log())).sum(-1) / 2
