"""FlexMatch (Zhang et al., 2021: arXiv:2110.08263)."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from robustssl.deep import (
    Batch,
    DeepClassifier,
    Loss,
    Net,
    Shape,
    State,
    Tensor,
    cross_entropy,
    frozen,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class FlexMatch(DeepClassifier):
    """FixMatch with a threshold for each class, lower for classes with few confident guesses:
    threshold beta / (2 - beta) with beta_c = n_c / max(max n, rows without a confident guess),
    where n_c counts the rows whose last confident guess was c. All thresholds are 0 at the start,
    so every guess is trusted then.

    Departures: none.
    """

    threshold: NotNegative = 0.95
    weight: NotNegative = 1.0
    ratio: Count = 7

    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("microsoft/Semi-supervised-learning: config/classic_cv/flexmatch", {}),
        "reference": Preset("YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/FlexMatch.py", {}),
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "weight": Between(0.1, 3.0, log=True),
    }

    def init(self, params: Tensor, shape: Shape) -> State:
        """The last confident guess for every row, K if there was none; and a place for guesses that
        are not confident.
        """
        return {"guesses": torch.full((shape.rows + 1,), shape.classes, device=params.device)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        confidence, label = net(frozen(params), batch.weak).softmax(-1).max(-1)
        labeled, strong = net(params, batch.x, batch.strong)
        classes = strong.shape[-1]
        guessed = state["guesses"][:-1]
        counts = torch.zeros(classes + 1, device=strong.device, dtype=strong.dtype)
        counts = counts.scatter_add(0, guessed, torch.ones_like(guessed, dtype=strong.dtype))[:-1]
        beta = counts / torch.maximum(counts.max(), batch.rows - counts.sum())
        trusted = (confidence >= self.threshold * (beta / (2 - beta))[label]).to(strong.dtype)
        unlabeled = trusted * cross_entropy(strong, label, reduction="none")
        place = torch.where(confidence >= self.threshold, batch.index, len(guessed))
        after = {**state, "guesses": state["guesses"].scatter(0, place, label)}
        return cross_entropy(labeled, batch.y), self.weight * unlabeled.mean(), after
