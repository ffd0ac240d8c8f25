"""SCOMatch (Wang et al., 2024: arXiv:2409.17512)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

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
from robustssl.spec import Count, NotNegative

LEAST, MOST = 0.75, 0.95  # the confidence that a guessed outlier needs


@dataclass(eq=False, repr=False, kw_only=True)
class SCOMatch(DeepClassifier):
    """Outliers are one more class. Its labeled rows are in a queue, which in each step the row of
    the batch enters that is least confident of the known classes; a batch drawn from the queue
    counts as much as the labeled batch. FixMatch guesses among K + 1 classes, and among the first K
    for rows that it takes for known ones.

    queue: its length, and at least 8 for each class. The confidence that a guessed outlier needs
    grows with the ratio of outliers to others among the confident guesses of the last half epoch.

    Departures: one unlabeled batch where the authors draw two, one for each FixMatch, so the
    confidence that their second FixMatch reads from the rows of the first is that of the row
    itself; rows are drawn from the queue with replacement; as in their runs on CIFAR-10 alone, a
    guess is asked for on the strong view and not also on the weak one; the head has biases.
    """

    ratio: Count = 2
    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    queue: Count = 256

    version = 3
    targets: ClassVar[dict[str, str]] = {"label": "arXiv:2409.17512, abstract"}
    collapses: ClassVar[dict[str, str]] = {
        "blobs": "-.005, perhaps -.015 (20 seeds): in each step the least certain row is taught as "
        "an outlier, even if there is none; without that term digits have .94 instead of .81 at "
        "t = 0 (5 seeds)"
    }
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("komejisatori/SCOMatch: scripts/run_competing_cifar10.sh, trainer.py", {})
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "weight": Between(0.1, 3.0, log=True),
    }

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Which rows of the queue are drawn: their places as shares of its length."""
        return rng.random((size[0], self.batch))

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {"outlier": nn.Linear(features, 1)}

    def init(self, params: Tensor, shape: Shape) -> State:
        """The rows of the queue, and how confident of a known class each was; the confidence that a
        guessed outlier needs; and how many confident guesses were known classes and outliers.
        """
        length = max(self.queue, 8 * shape.classes)
        return {
            "queue": params.new_zeros((length, *shape.row)),
            "scores": params.new_zeros(length),
            "bar": params.new_tensor(MOST),
            "counts": params.new_zeros(2),
        }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        length = len(state["scores"])
        begun = batch.step >= len(batch.y)  # rows in the queue, one for each step
        place = (batch.noise * batch.step.clamp(max=length)).long()
        # At first labeled rows stand in for the queue, so that batch statistics are not of zeros.
        queued = torch.where(begun, state["queue"][place], batch.x)
        x, out, weak, strong = logits_of(net, params, batch.x, queued, batch.weak, batch.strong)
        guess = weak.detach().softmax(-1)
        confidence, label = guess.max(-1)
        outlier = label == guess.shape[-1] - 1
        bar, counts = self._counted(batch, state, confidence > self.threshold, outlier)

        last = torch.full_like(batch.y, guess.shape[-1] - 1)
        doubted = begun & (state["scores"][place] < self.threshold)
        found = (doubted * cross_entropy(out, last, reduction="none")).mean()
        trust = confidence >= torch.where(outlier, bar, self.threshold)
        among_all = (trust * cross_entropy(strong, label, reduction="none")).mean()
        among = cross_entropy(strong[:, :-1], guess[:, :-1].argmax(-1), reduction="none")
        among_known = ((confidence >= self.threshold) & ~outlier) * among

        score, least = guess[:, :-1].amax(-1).min(0, keepdim=True)
        entered = batch.step.remainder(length).long().expand(1)
        after = {
            **state,
            "queue": state["queue"].index_copy(0, entered, batch.weak.index_select(0, least)),
            "scores": state["scores"].index_copy(0, entered, score),
            "bar": bar,
            "counts": counts,
        }
        unlabeled = found + self.weight * (among_all + among_known.mean())
        return cross_entropy(x, batch.y), unlabeled, after

    def _counted(
        self, batch: Batch, state: State, sure: Tensor, outlier: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The confidence that a guessed outlier needs, computed again after every half epoch, and
        the counts of confident guesses since then.
        """
        known, unknown = state["counts"]
        bar = (self.threshold * unknown / known.clamp(min=1)).clamp(LEAST, MOST)
        bar = torch.where(known > 0, bar, MOST)
        half = (batch.rows // (2 * len(batch.weak))).clamp(min=1)
        due = (batch.step > 0) & (batch.step.remainder(half) == 0)
        counts = torch.stack([(sure & ~outlier).sum(), (sure & outlier).sum()])
        return torch.where(due, bar, state["bar"]), torch.where(due, 0, state["counts"]) + counts

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        return logits_of(net, params, rows)[0].softmax(-1)[:, -1]


def logits_of(net: Net, params: Tensor, *views: Tensor) -> tuple[Tensor, ...]:
    """The logits of K + 1 classes: those of the net, and that of outliers."""
    z = net.part("net.features", params, torch.cat(views))
    heads = net.part("net.head", params, z), net.part("outlier", params, z)
    return torch.cat(heads, -1).split([len(view) for view in views])
