"""UDA (Xie et al., 2020: arXiv:1904.12848)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy, frozen
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class UDA(DeepClassifier):
    """If the guess on the weak view is confident, train the strong view on its sharpened
    probabilities. Labeled rows that are already certain are left out: those with p_y above eta,
    which grows from 1/K to 1.

    signal: how eta grows: linear, log or exp. none: eta is 1.

    Departures: none.
    """

    threshold: NotNegative = 0.8
    temperature: Positive = 0.4
    weight: NotNegative = 1.0
    signal: Literal["none", "linear", "log", "exp"] = "none"
    ratio: Count = 5

    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("google-research/uda: image/scripts/run_cifar10_gpu.sh", {}),
        "text": Preset(
            "google-research/uda: text/scripts/run_base_uda.sh",
            {"threshold": 0.0, "temperature": 1.0, "signal": "linear", "ratio": 3},
        ),
        "reference": Preset("YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/UDA.py", {"ratio": 7}),
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "temperature": Between(0.2, 1.0, log=True),
        "weight": Between(0.1, 3.0, log=True),
    }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        guess = net(frozen(params), batch.weak)
        target = (guess / self.temperature).softmax(-1)
        labeled, strong = net(params, batch.x, batch.strong)
        trusted = (guess.softmax(-1).amax(-1) >= self.threshold).to(strong.dtype)
        unlabeled = trusted * cross_entropy(strong, target, reduction="none")
        errors = cross_entropy(labeled, batch.y, reduction="none")
        unsure = (errors.detach().neg().exp() <= self._eta(batch, labeled.shape[-1])).to(errors)
        supervised = (unsure * errors).sum() / unsure.sum().clamp(min=1)
        return supervised, self.weight * unlabeled.mean(), state

    def _eta(self, batch: Batch, classes: int) -> Tensor:
        done = batch.step / self.steps
        grown = {
            "none": torch.ones_like(done),
            "linear": done,
            "log": 1 - (-5 * done).exp(),
            "exp": (5 * (done - 1)).exp(),
        }[self.signal]
        return grown * (1 - 1 / classes) + 1 / classes
