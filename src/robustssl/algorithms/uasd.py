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
from robustssl.method import Preset
from robustssl.spec import Decay, NotNegative, Positive, Share


@dataclass(eq=False, repr=False, kw_only=True)
class UASD(DeepClassifier):
    """Agree with the mean q of all predictions for a row so far, if it is as confident as labeled
    rows are on average: CE + weight r times the mean of H(q, p(w(u))) over the rows with max q >=
    threshold, where r is a ramp.

    start: the share of the steps before unlabeled rows are learned; the ramp begins earlier, at
    step 0.
    memory: the decay of the threshold. The authors take the mean confidence on labeled validation
    rows; no labels can be spared for that here, so it is the confidence on strong views of the
    labeled rows.
    """

    weight: NotNegative = 1.0
    start: Share = 0.2
    warmup: Positive = 0.6
    memory: Decay = 0.99

    targets: ClassVar[dict[str, str]] = {"label": "the abstract"}
    views = ("weak", "x_strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("yanbeic/ssl-class-mismatch: lib/hparams.py", {"warmup": 1.0})
    }

    def init(self, params: Tensor, shape: Shape) -> State:
        return {
            "q": params.new_zeros(shape.rows, shape.classes),
            "visits": params.new_zeros(shape.rows),
            "threshold": params.new_tensor(0.9),
        }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        labeled, logits = net(params, batch.x), net(params, batch.weak)
        sure = net(frozen(params), batch.x_strong).softmax(-1).amax(-1).mean()
        threshold = torch.lerp(sure, state["threshold"], self.memory)
        started = (batch.step >= self.start * self.steps).to(logits.dtype)
        visits = state["visits"][batch.index] + started
        before = state["q"][batch.index]
        q = before + started * (logits.detach().softmax(-1) - before) / visits.clamp(min=1)[:, None]
        kept = started * (q.amax(-1) >= threshold)
        unlabeled = mean_of(kept, cross_entropy(logits, q, reduction="none"))
        after = {
            **state,
            "q": state["q"].index_copy(0, batch.index, q),
            "visits": state["visits"].index_copy(0, batch.index, visits),
            "threshold": threshold,
        }
        weight = self.weight * self.slow_ramp(batch, self.warmup)
        return cross_entropy(labeled, batch.y), weight * unlabeled, after
