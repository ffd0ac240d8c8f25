"""Pi-Model (Laine and Aila, 2017: arXiv:1610.02242)."""

from dataclasses import dataclass
from typing import ClassVar

from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    State,
    Tensor,
    cross_entropy,
    frozen,
    mse_loss,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class PiModel(DeepClassifier):
    """Two weak views of a row should get the same prediction: CE + weight r MSE(p(w(u)), sg
    p(w'(u))), where r is a ramp and sg stops the gradient.

    weight: the authors multiply 100 by the share of labeled rows, and divide the cross-entropy by
    all rows of a batch; here both losses are means over their own rows.

    Departures: the gradient flows through one of the two views; the rows that must agree are the
    unlabeled ones, not the labeled ones as well; no dropout in the views.
    """

    weight: NotNegative = 100.0
    warmup: Positive = 80 / 300

    views = ("weak", "other")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("smlaine2/tempens: config.py and train.py", {}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/PiModel.py", {"weight": 10.0, "warmup": 0.4}
        ),
    }
    space: ClassVar[Space] = {"weight": Between(1.0, 100.0, log=True), "warmup": Between(0.1, 1.0)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        target = net(frozen(params), batch.other).softmax(-1)
        unlabeled = mse_loss(net(params, batch.weak).softmax(-1), target)
        weight = self.weight * self.slow_ramp(batch, self.warmup)
        return cross_entropy(net(params, batch.x), batch.y), weight * unlabeled, state
