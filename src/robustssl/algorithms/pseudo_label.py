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
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    warmup: Positive = 0.4

    views = ("weak",)
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Lee 2013, section 4", {"threshold": 0.0, "weight": 3.0}),
        "reference": Preset("YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/PseudoLabel.py", {}),
    }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        logits = net(params, batch.weak)
        confidence, label = logits.detach().softmax(-1).max(-1)
        trusted = (confidence >= self.threshold).to(logits.dtype)
        unlabeled = (trusted * cross_entropy(logits, label, reduction="none")).mean()
        weight = self.weight * self.ramp(batch, self.warmup)
        return cross_entropy(net(params, batch.x), batch.y), weight * unlabeled, state
