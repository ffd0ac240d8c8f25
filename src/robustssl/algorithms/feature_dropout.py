"""FixMatch that learns to do without features: some of them are missing in strong views."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch

from robustssl.algorithms._guesses import trusted
from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    Rows,
    Shape,
    State,
    Tensor,
    cross_entropy,
    frozen,
)
from robustssl.method import Between, Space
from robustssl.spec import Count, NotNegative, Share


@dataclass(eq=False, repr=False, kw_only=True)
class FeatureDropout(DeepClassifier):
    """(CE(w(x)) + CE(s(x))) / 2 + weight U(u), where U is FixMatch's loss and a strong view s
    replaces some features by their mean over the labeled rows.

    most: the largest share of features that a row may lose; each row draws its own share.

    Departures: none; a control of this package, with the settings of FixMatch. It has no authors
    who claim anything.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    most: Share = 0.5
    ratio: Count = 7

    takes = frozenset({"table", "vectors"})
    views = ("weak", "strong", "x_strong")
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "weight": Between(0.1, 3.0, log=True),
        "most": Between(0.1, 0.9),
    }

    @property
    def refresh_every(self) -> int:  # type: ignore[override]
        return self.steps

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """1 where a feature is lost; each row draws its own share of lost features."""
        rows = (size[0], self.batch + size[1])
        share = rng.random((*rows, *[1] * (len(size) - 2)), np.float32) * self.most
        return (rng.random((*rows, *size[2:]), np.float32) < share).astype(np.float32)

    def init(self, params: Tensor, shape: Shape) -> State:
        return {"mean": params.new_zeros(shape.row)}

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        known = torch.arange(len(rows.x), device=rows.x.device) < rows.labels
        wide = known.view(-1, *[1] * (rows.x.ndim - 1))
        return {**state, "mean": (wide * rows.x).sum(0) / rows.labels}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        strong = torch.cat([batch.x_strong, batch.strong])
        lost = torch.where(batch.noise > 0, state["mean"], strong)
        x, views = net(params, batch.x, lost)
        x_strong, strong = views[: len(x)], views[len(x) :]
        labeled = (cross_entropy(x, batch.y) + cross_entropy(x_strong, batch.y)) / 2
        guess = net(frozen(params), batch.weak)
        return labeled, self.weight * trusted(guess, strong, self.threshold).mean(), state
