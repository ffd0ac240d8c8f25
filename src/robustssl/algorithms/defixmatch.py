"""DeFixMatch (Schmutz et al., 2023: arXiv:2203.07512), a debiased FixMatch."""

from dataclasses import dataclass
from typing import ClassVar

from robustssl.algorithms._guesses import trusted
from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy, frozen
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class DeFixMatch(DeepClassifier):
    """FixMatch's loss U on unlabeled rows minus the same loss on labeled rows, a difference with
    mean zero if both come from one distribution: (CE(w(x)) + CE(s(x))) / 2 + weight (U(u) - U(x)).
    It may be negative, and is not cut off at 0, which would bring back the bias that it removes.

    Departures: none.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 0.5
    ratio: Count = 7

    targets: ClassVar[dict[str, str]] = {
        "consistent": "arXiv:2203.07512, section 3: labels are missing completely at random"
    }
    views = ("weak", "strong", "x_strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("HugoSchmutz/DeFixmatch: README.md and train.py", {})
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "weight": Between(0.1, 2.0, log=True),
    }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        known, weak = net(frozen(params), batch.x, batch.weak)
        x, x_strong, strong = net(params, batch.x, batch.x_strong, batch.strong)
        labeled = (cross_entropy(x, batch.y) + cross_entropy(x_strong, batch.y)) / 2
        there = trusted(weak, strong, self.threshold).mean()
        here = trusted(known, x_strong, self.threshold).mean()
        return labeled, self.weight * (there - here), state
