"""SSB (Fan et al., 2023: arXiv:2311.10572), a simple but strong baseline for unknown classes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from torch import nn
from torch.nn.functional import logsigmoid

from robustssl.algorithms._guesses import accepted, mean_of, one_against_all, trusted
from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy
from robustssl.method import Preset
from robustssl.spec import NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class SSB(DeepClassifier):
    """FixMatch on all confident rows, outliers included, and beside it a one-against-all detector
    with a hidden layer of its own. As negatives of a class the detector also takes the unlabeled
    rows for which its probability is below `negative`.

    start: the share of the steps before negatives are taken from unlabeled rows.
    negative: the authors' .01 is only reached in long runs.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    negative: Share = 0.1
    start: Share = 0.4

    targets: ClassVar[dict[str, str]] = {"label": "the abstract"}
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "YUE-FAN/SSB: fix_ssb.sh", {"ratio": 2, "start": 475 / 512, "negative": 0.01}
        )
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        hidden = nn.Sequential(nn.Linear(features, features), nn.ReLU())
        return {"detector": hidden.append(nn.Linear(features, classes))}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        z = net.part("net.features", params, batch.x, batch.weak, batch.strong)
        x, weak, strong = net.part("net.head", params, *z)
        known, found, found_strong = net.part("detector", params, *z)
        labeled = cross_entropy(x, batch.y) + one_against_all(known, batch.y)
        mined = found.detach().sigmoid() < self.negative
        begun = batch.step >= self.start * self.steps
        refused = mean_of(mined & begun, -logsigmoid(-found_strong))
        return labeled, self.weight * trusted(weak, strong, self.threshold).mean() + refused, state

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        return 1 - accepted(net, params, rows)
