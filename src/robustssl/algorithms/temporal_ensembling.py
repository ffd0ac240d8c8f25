"""Temporal Ensembling (Laine and Aila, 2017: arXiv:1610.02242)."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    Shape,
    State,
    Tensor,
    cross_entropy,
    mse_loss,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Decay, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class TemporalEnsembling(DeepClassifier):
    """Agree with the average of past predictions for the same row: Z <- memory Z + (1 - memory)
    p(w(u)) at every visit of a row, and CE + weight r MSE(p(w(u)), Z / (1 - memory^visits)), where
    r is a ramp.

    weight: the authors multiply 30 by the share of labeled rows, and divide the cross-entropy by
    all rows of a batch; here both losses are means over their own rows.
    memory: the decay of Z.

    Departures: Z changes when a row is visited, not once an epoch; the rows that must agree are the
    unlabeled ones, not the labeled ones as well; no dropout in the views.
    """

    weight: NotNegative = 30.0
    warmup: Positive = 80 / 300
    memory: Decay = 0.6

    views = ("weak",)
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("smlaine2/tempens: config.py and train.py", {}),
    }
    space: ClassVar[Space] = {
        "weight": Between(1.0, 100.0, log=True),
        "warmup": Between(0.1, 1.0),
        "memory": (0.3, 0.6, 0.9),
    }

    def init(self, params: Tensor, shape: Shape) -> State:
        zeros = params.new_zeros(shape.rows, shape.classes)
        return {"Z": zeros, "visits": zeros[:, 0]}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        Z, visits = state["Z"][batch.index], state["visits"][batch.index]
        p = net(params, batch.weak).softmax(-1)
        known = (visits > 0).to(p.dtype)
        target = Z / (1 - self.memory**visits).clamp(min=1 - self.memory)[:, None]
        unlabeled = (known * mse_loss(p, target, reduction="none").mean(-1)).mean()
        weight = self.weight * self.slow_ramp(batch, self.warmup)
        after = {
            **state,
            "Z": state["Z"].index_copy(0, batch.index, torch.lerp(p.detach(), Z, self.memory)),
            "visits": state["visits"].index_copy(0, batch.index, visits + 1),
        }
        return cross_entropy(net(params, batch.x), batch.y), weight * unlabeled, after
