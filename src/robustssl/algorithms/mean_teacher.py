"""Mean Teacher (Tarvainen and Valpola, 2017: arXiv:1703.01780)."""

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
class MeanTeacher(DeepClassifier):
    """Agree with the average of the past parameters: CE + weight r MSE(p(w(u)), p'(w'(u))), where
    p' uses the parameters averaged with the decay `ema` and r is a ramp.

    weight: the authors multiply 100 by the share of labeled rows, and divide the cross-entropy by
    all rows of a batch; here both losses are means over their own rows.

    Departures: the rows that must agree are the unlabeled ones, not the labeled ones as well; no
    dropout in the views; the decay of the average is that of the budget.
    """

    weight: NotNegative = 100.0
    warmup: Positive = 40 / 150

    views = ("weak", "other")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("CuriousAI/mean-teacher: tensorflow/experiments/cifar10_final_eval.py", {}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/MeanTeacher.py", {"weight": 1.0, "warmup": 0.4}
        ),
    }
    space: ClassVar[Space] = {"weight": Between(1.0, 100.0, log=True), "warmup": Between(0.1, 1.0)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        target = net(frozen(state["average"]), batch.other).softmax(-1)
        unlabeled = mse_loss(net(params, batch.weak).softmax(-1), target)
        weight = self.weight * self.slow_ramp(batch, self.warmup)
        return cross_entropy(net(params, batch.x), batch.y), weight * unlabeled, state
