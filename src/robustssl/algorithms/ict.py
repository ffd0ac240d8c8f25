"""ICT (Verma et al., 2019: arXiv:1903.03825)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from robustssl.algorithms._mixing import Concentration
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
from robustssl.method import Preset
from robustssl.spec import NotNegative, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class ICT(DeepClassifier):
    """The prediction for a mixture of two rows should be the mixture of their predictions: CE +
    weight r MSE(p(l u + (1 - l) v), l p'(u) + (1 - l) p'(v)), where l ~ Beta(alpha, alpha), p' uses
    the averaged parameters and r is a ramp.

    weight: the authors' 100 outweighs the few labels of a table.
    """

    weight: NotNegative = 5.0
    alpha: Concentration = 0.5
    warmup: Positive = 0.4

    views = ("weak",)
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("vikasverma1077/ICT: README.md", {"weight": 100.0}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/ICT.py", {"weight": 100.0, "warmup": 1 / 64}
        ),
    }

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """The share l of every step."""
        return rng.beta(self.alpha, self.alpha, (size[0], 1))

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        share, rows = batch.noise, batch.weak
        p = net(frozen(state["average"]), rows).softmax(-1)
        target = share * p + (1 - share) * p.roll(1, 0)  # rows come in random order
        mixed = net(params, share * rows + (1 - share) * rows.roll(1, 0)).softmax(-1)
        weight = self.weight * self.slow_ramp(batch, self.warmup)
        return cross_entropy(net(params, batch.x), batch.y), weight * mse_loss(mixed, target), state
