"""Pseudo-Label (Lee, 2013)."""

from dataclasses import dataclass
from typing import ClassVar

from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy
from robustssl.method import Preset
from robustssl.spec import NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class PseudoLabel(DeepClassifier):
    """Train on the most probable class of an unlabeled row if it is confident: CE + weight r times
    the mean of 1(max p >= threshold) CE(f(u), argmax p(u)), where r is a ramp.

    threshold: 0 trusts every guess, as the author does; later work takes .95.

    Departures: the ramp begins at step 0, not after a first part of the training, and its length is
    ours: the author gives epochs 100 to 600 and no total; no pretraining, no dropout.
    """

    threshold: NotNegative = 0.0
    weight: NotNegative = 3.0
    warmup: Positive = 0.4

    views = ("weak",)
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Lee 2013, sections 3 and 4", {}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/PseudoLabel.py",
            {"threshold": 0.95, "weight": 1.0},
        ),
    }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        logits = net(params, batch.weak)
        confidence, label = logits.detach().softmax(-1).max(-1)
        trusted = (confidence >= self.threshold).to(logits.dtype)
        unlabeled = (trusted * cross_entropy(logits, label, reduction="none")).mean()
        weight = self.weight * self.ramp(batch, self.warmup)
        return cross_entropy(net(params, batch.x), batch.y), weight * unlabeled, state
