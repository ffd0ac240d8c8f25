"""UASD (Chen et al., 2020, AAAI), uncertainty-aware self-distillation."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from robustssl.algorithms._guesses import mean_of
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
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import NotNegative, Positive, Share

FIRST = 0.9  # the threshold of the first step


@dataclass(eq=False, repr=False, kw_only=True)
class UASD(DeepClassifier):
    """Agree with the mean q of all earlier predictions for a row, if it is as confident as labeled
    rows are on average: CE + weight r times the mean of H(q, p(w(u))) over the rows with max q >=
    threshold, where r is a ramp. The threshold is the mean over labeled rows of the confidence of
    their own mean prediction in earlier steps; .9 at first.

    start: the share of the steps before unlabeled rows are learned; q and the ramp begin earlier,
    at step 0.

    Departures: the confidence is that on strong views of the labeled rows, since no labels can be
    spared for validation rows; labeled rows do not learn their own q as well.
    """

    weight: NotNegative = 1.0
    start: Share = 0.2
    warmup: Positive = 0.4

    version = 3
    targets: ClassVar[dict[str, str]] = {"label": "AAAI 2020, abstract"}
    collapses: ClassVar[dict[str, str]] = {
        "blobs": "-.03 (20 seeds): the mean of all earlier answers holds those of the untrained net"
    }
    views = ("weak", "x_strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "yanbeic/ssl-class-mismatch: train_model_uasd.py, lib/our_framework.py, lib/hparams.py",
            {},
        )
    }
    space: ClassVar[Space] = {
        "weight": Between(0.1, 3.0, log=True),
        "start": Between(0.05, 0.5),
        "warmup": Between(0.1, 0.8),
    }

    def init(self, params: Tensor, shape: Shape) -> State:
        return {
            "q": params.new_zeros(shape.rows, shape.classes),
            "visits": params.new_zeros(shape.rows),
            "checked": params.new_zeros(shape.labels, shape.classes),
        }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        labeled, logits = net(params, batch.x), net(params, batch.weak)
        seen = net(frozen(params), batch.x_strong).softmax(-1)
        checked = state["checked"]  # sums of predictions; that of a row sums to its visits
        visited = checked.sum(-1) > 0
        sure = (checked / checked.sum(-1, keepdim=True).clamp(min=1)).amax(-1)
        threshold = torch.where(visited.any(), mean_of(visited, sure), FIRST)
        q, visits = state["q"][batch.index], state["visits"][batch.index] + 1
        kept = q.amax(-1) >= threshold
        unlabeled = mean_of(kept, cross_entropy(logits, q, reduction="none"))
        started = (batch.step >= self.start * self.steps).to(logits.dtype)
        weight = self.weight * started * self.slow_ramp(batch, self.warmup)
        mean = q + (logits.detach().softmax(-1) - q) / visits[:, None]
        after = {
            **state,
            "q": state["q"].index_copy(0, batch.index, mean),
            "visits": state["visits"].index_copy(0, batch.index, visits),
            "checked": checked.index_add(0, batch.x_index, seen),
        }
        return cross_entropy(labeled, batch.y), weight * unlabeled, after
