"""SSB (Fan et al., 2023: arXiv:2311.10572), a simple but strong baseline for unknown classes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from torch import nn
from torch.nn.functional import logsigmoid

from robustssl.algorithms._guesses import accepted, disagreement, entropy, trusted
from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy, one_hot
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class SSB(DeepClassifier):
    """FixMatch on all confident rows, outliers included. In the last steps a detector is trained
    beside it, which says for every class whether a row belongs to it, by two hidden layers of its
    own. On unlabeled rows the detector shall be certain (entropy) and equal in two views
    (agreement), and it takes as negatives of a class those for which its probability is at most
    `negative`.

    start: the share of the steps before the detector is trained.

    Departures: the classifier has no hidden layers of its own, since the net is that of the
    baseline; one weak and one strong view of a labeled row instead of two of each; all views share
    one pass through the net; a detector is the sigmoid of one logit, not the softmax of two.
    """

    ratio: Count = 2
    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    entropy: NotNegative = 0.1
    agreement: NotNegative = 0.5
    negative: Share = 0.01
    start: Share = 475 / 512

    version = 3
    targets: ClassVar[dict[str, str]] = {"label": "arXiv:2311.10572, abstract"}
    views = ("weak", "other", "strong", "x_strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("YUE-FAN/SSB: fix_ssb.sh, CIFAR10 with 25 labels", {})
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "weight": Between(0.1, 3.0, log=True),
        "entropy": Between(0.01, 1.0, log=True),
        "agreement": Between(0.05, 2.0, log=True),
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        width = 8 * features  # 1,024 behind the 128 features of a WideResNet
        hidden = [nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
        return {"detector": nn.Sequential(*hidden, nn.Linear(width, classes))}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        views = (batch.x, batch.x_strong, batch.weak, batch.other, batch.strong)
        z = net.part("net.features", params, *views)
        x, weak, strong = net.part("net.head", params, z[0], z[2], z[4])
        known, known_strong, one, two, found = net.part("detector", params, *z)
        own = one_hot(batch.y, known)
        present = -(own * logsigmoid(known)).sum(-1).mean()
        absent = -((1 - own) * (logsigmoid(-known) + logsigmoid(-known_strong)) / 2).mean()
        mined = one.detach().sigmoid() <= self.negative
        refused = -(mined * logsigmoid(-found)).sum(-1).mean()
        unsure = (entropy(one) + entropy(two)) / 2
        detector = refused + self.entropy * unsure + self.agreement * disagreement(one, two)
        begun = (batch.step >= self.start * self.steps).to(x.dtype)
        labeled = cross_entropy(x, batch.y) + begun * (present + absent)
        fixed = trusted(weak, strong, self.threshold).mean()
        return labeled, self.weight * fixed + begun * detector, state

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        return 1 - accepted(net, params, rows)
