"""SCOMatch (Wang et al., 2024: arXiv:2409.17512)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from robustssl.algorithms._guesses import trusted
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
from robustssl.method import Preset
from robustssl.spec import Decay, NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class SCOMatch(DeepClassifier):
    """Outliers are one more class. Its labeled rows are a queue of the unlabeled rows that were
    least confident of the known classes. FixMatch guesses among K + 1 classes, and among the first
    K for rows that it takes for known ones.

    queue: its length, as a share of the unlabeled rows. In each step the least confident row of the
    batch enters it. A queued row counts as much as a labeled one whenever it is drawn.
    start: the share of the steps before unlabeled rows are learned.
    memory: the decay of the ratio of outliers to others among the guesses; a large ratio raises the
    confidence that outliers need.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    queue: Share = 0.05
    start: Share = 0.3
    memory: Decay = 0.99

    targets: ClassVar[dict[str, str]] = {"label": "the abstract"}
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("komejisatori/SCOMatch: trainer.py", {"ratio": 2})
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {"outlier": nn.Linear(features, 1)}

    def init(self, params: Tensor, shape: Shape) -> State:
        """The step at which each row last entered the queue, and the ratio of outliers to others
        among the guesses.
        """
        return {
            "queued": params.new_full((shape.rows,), -torch.inf),
            "ratio": params.new_tensor(1.0),
        }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        x, weak, strong = logits_of(net, params, batch.x, batch.weak, batch.strong)
        guess = weak.detach().softmax(-1)
        confidence, label = guess.max(-1)
        outliers = label == guess.shape[-1] - 1
        share = outliers.to(guess.dtype).mean()
        ratio = torch.lerp(share / (1 - share).clamp(min=1e-3), state["ratio"], self.memory)
        bar = (self.threshold * ratio).clamp(0.75, max(0.75, self.threshold))
        trust = confidence >= torch.where(outliers, bar, self.threshold)
        among_all = (trust * cross_entropy(strong, label, reduction="none")).mean()
        among_known = (~outliers * trusted(weak[:, :-1], strong[:, :-1], self.threshold)).mean()

        least = guess[:, :-1].amax(-1).argmin(keepdim=True)
        entered = batch.step.expand(1).to(guess.dtype)
        queued = state["queued"].index_copy(0, batch.index.gather(0, least), entered)
        inside = queued[batch.index] > batch.step - self.queue * batch.rows
        last = torch.full_like(label, guess.shape[-1] - 1)
        found = (inside * cross_entropy(weak, last, reduction="none")).sum() / len(batch.y)
        begun = (batch.step >= self.start * self.steps).to(guess.dtype)
        unlabeled = begun * (found + self.weight * (among_all + among_known))
        after = {**state, "queued": queued, "ratio": ratio}
        return cross_entropy(x, batch.y), unlabeled, after

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        return logits_of(net, params, rows)[0].softmax(-1)[:, -1]


def logits_of(net: Net, params: Tensor, *views: Tensor) -> tuple[Tensor, ...]:
    """The logits of K + 1 classes: those of the net, and that of outliers."""
    z = net.part("net.features", params, torch.cat(views))
    heads = net.part("net.head", params, z), net.part("outlier", params, z)
    return torch.cat(heads, -1).split([len(view) for view in views])
