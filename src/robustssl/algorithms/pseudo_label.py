"""Pseudo-Label (Lee, 2013)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy
from robustssl.method import Between, Preset, Space
from robustssl.spec import NotNegative, Range


@dataclass(eq=False, repr=False, kw_only=True)
class PseudoLabel(DeepClassifier):
    """Train on the most probable class of an unlabeled row if it is confident: CE + weight r times
    the mean of 1(max p >= threshold) CE(f(u), argmax p(u)), where r is a ramp.

    threshold: 0 trusts every guess, as the author does; later work takes .95.
    start: the share of the steps before unlabeled rows are learned; the ramp ends with the last
    step.

    Departures: the training ends with the ramp, since the author gives its epochs, 100 to 600, and
    no total; no pretraining, no dropout.
    """

    threshold: NotNegative = 0.0
    weight: NotNegative = 3.0
    start: Annotated[float, Range(least=0, below=1)] = 100 / 600

    views = ("weak",)
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Lee 2013, sections 3 and 4", {}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/PseudoLabel.py",
            {"threshold": 0.95, "weight": 1.0, "start": 0.0},
        ),
    }
    space: ClassVar[Space] = {
        "threshold": (0.0, 0.8, 0.9, 0.95),
        "weight": Between(0.1, 3.0, log=True),
        "start": Between(0.0, 0.5),
    }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        logits = net(params, batch.weak)
        confidence, label = logits.detach().softmax(-1).max(-1)
        trusted = (confidence >= self.threshold).to(logits.dtype)
        unlabeled = (trusted * cross_entropy(logits, label, reduction="none")).mean()
        grown = (batch.step / self.steps - self.start).clamp(min=0) / (1 - self.start)
        return cross_entropy(net(params, batch.x), batch.y), self.weight * grown * unlabeled, state
