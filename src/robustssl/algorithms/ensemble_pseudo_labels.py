"""Ensemble pseudo-labels, V-PET (Zhang et al., 2025, arXiv:2503.09707)."""

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
from robustssl.spec import Count

AT_ONCE = 1024  # rows that are labeled in one pass


@dataclass(eq=False, repr=False, kw_only=True)
class EnsemblePseudoLabels(DeepClassifier):
    """Several nets learn the labeled rows, each from its own start, and vote on every unlabeled
    row. Where rows are vectors of several encoders side by side (encoder=a+b), each voter sees
    those of one encoder, in turn, and zeros in place of the others. A fresh net then learns the
    labeled rows and, on a weak and on a strong view of every unlabeled row, the softmax of the
    numbers of votes, which is the softer the less they agree.

    voters: how many nets vote; the authors' four are two ways to fine-tune each of two pretrained
    models.

    Departures: voters differ by their start and, with encoder=a+b, by the pretrained model, not by
    the way it is fine-tuned, since a study gives all methods one net; a voter answers the row
    itself, not the mean of 10 weak views; the last net learns the labeled rows too, which the
    authors' code treats like unlabeled ones; settings of the voters are those of the study, not
    chosen for each task.
    """

    voters: Count = 4

    version = 1
    views = ("weak", "strong")
    stages = ("vote", "loss")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("OSU-MLB/SSL-Foundation-Models: gen_config_pet.py", {})
    }
    space: ClassVar[Space] = {"voters": Between(2, 8)}

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {f"voter{k}": build() for k in range(self.voters)}

    def init(self, params: Tensor, shape: Shape) -> State:
        votes = params.new_zeros(shape.rows, shape.classes)
        if not shape.blocks:
            return {"votes": votes}
        owner = torch.arange(len(shape.blocks)).repeat_interleave(torch.tensor(shape.blocks))
        voter = torch.arange(self.voters)[:, None] % len(shape.blocks)
        return {"votes": votes, "sees": (voter == owner).to(params)}

    def answers(self, net: Net, params: Tensor, rows: Tensor, state: State) -> list[Tensor]:
        """What each voter says of the rows, given the columns that it sees."""
        seen = [rows * sees for sees in state["sees"]] if "sees" in state else [rows] * self.voters
        return [net.part(f"voter{k}", params, part) for k, part in enumerate(seen)]

    def vote(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        """The loss of all voters on the labeled rows."""
        answers = self.answers(net, params, batch.x, state)
        labeled = torch.stack([cross_entropy(answer, batch.y) for answer in answers]).sum()
        return labeled, torch.zeros_like(labeled), state

    def handover(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        votes = [self._votes(net, params, part, state) for part in rows.unlabeled.split(AT_ONCE)]
        return {**state, "votes": torch.cat(votes)}

    def _votes(self, net: Net, params: Tensor, rows: Tensor, state: State) -> Tensor:
        answers = self.answers(net, params, rows, state)
        return torch.stack([one_hot(answer.argmax(-1), answer) for answer in answers]).sum(0)

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        target = state["votes"][batch.index].softmax(-1)
        x, weak, strong = net(params, batch.x, batch.weak, batch.strong)
        unlabeled = cross_entropy(weak, target) + cross_entropy(strong, target)
        return cross_entropy(x, batch.y), unlabeled, state
