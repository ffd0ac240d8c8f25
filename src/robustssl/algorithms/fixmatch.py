"""FixMatch (Sohn et al., 2020: arXiv:2001.07685)."""

from dataclasses import dataclass
from typing import ClassVar

from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy, frozen
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class FixMatch(DeepClassifier):
    """Trust a guess on the weak view if it is confident, and train the strong view on it.

    temperature: divides the logits of a guess before its confidence is compared with the threshold.
    The published benchmark used .5.

    Departures: none.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    temperature: Positive = 1.0
    ratio: Count = 7

    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("google-research/fixmatch: fixmatch.py", {}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/FixMatch.py", {"temperature": 0.5}
        ),
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "weight": Between(0.1, 3.0, log=True),
    }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        guess = (net(frozen(params), batch.weak) / self.temperature).softmax(-1)
        confidence, label = guess.max(-1)
        labeled, strong = net(params, batch.x, batch.strong)
        trusted = (confidence >= self.threshold).to(strong.dtype)
        unlabeled = trusted * cross_entropy(strong, label, reduction="none")
        return cross_entropy(labeled, batch.y), self.weight * unlabeled.mean(), state
