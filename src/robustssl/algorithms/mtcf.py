"""MTCF (Yu et al., 2020: arXiv:2007.11330), a multi-task curriculum framework."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as binary

from robustssl.algorithms import _mixing
from robustssl.algorithms._guesses import mean_of
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
    one_hot,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Positive, Share


@dataclass(eq=False, repr=False, kw_only=True)
class MTCF(DeepClassifier):
    """A second head g says whether a row resembles the labeled ones. Its target is 1 for a labeled
    row; for an unlabeled row it is 0 at first, and later the mean of what g said at the row's
    latest visits. MixMatch sees the rows whose mean is at least the threshold that separates these
    means best (Otsu).

    start: the share of the steps in which g learns alone.
    warmup: the share of the steps, counted from `start`, in which the weight rises.
    window: the number of visits that a row's mean covers, and that its target stays 0.

    Departures: the ramp lasts the whole run, for the reason that `mixmatch` gives; a row's mean
    covers one visit, since 10 are .9% of the authors' visits and most of a short run; g learns from
    the rows of the step, weighted as if they were drawn together from labeled and unlabeled rows;
    MixMatch sees the rows of the step that are kept, not a batch of kept rows; Otsu's threshold is
    exact, not that of a histogram, and is computed every 10 steps; a row that was visited less
    often than `window` has the mean of its visits.
    """

    weight: NotNegative = 75.0
    alpha: _mixing.Concentration = 0.75
    temperature: Positive = 0.5
    start: Share = 100 / 1124
    warmup: Positive = 1.0
    window: Count = 1

    version = 3
    targets: ClassVar[dict[str, str]] = {"label": "arXiv:2007.11330, abstract"}
    collapses: ClassVar[dict[str, str]] = {
        "weak_signal_in_128_features": "g learns alone first, and nearly every direction tells few "
        "labeled rows apart: .69 with it, .79 with start=0 (5 seeds, baseline .79)"
    }
    views = ("weak", "other")
    refresh_every = 10
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "YU1ut/Multi-Task-Curriculum-Framework-for-Open-Set-SSL: train_multi.py",
            {"warmup": 1 / 64, "window": 10},
        )
    }
    space: ClassVar[Space] = {
        "weight": Between(1.0, 100.0, log=True),
        "alpha": Between(0.1, 1.0, log=True),
        "temperature": Between(0.25, 1.0, log=True),
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {"g": nn.Linear(features, 1)}

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float64]:
        return _mixing.draw(rng, self.alpha, size[0], self.batch + 2 * size[1], shared=True)

    def init(self, params: Tensor, shape: Shape) -> State:
        """What g said about every row at its latest visits, the number of visits, Otsu's threshold
        and the number of labeled rows.
        """
        return {
            "said": params.new_zeros(shape.rows, self.window),
            "visits": torch.zeros(shape.rows, dtype=torch.long, device=params.device),
            "threshold": params.new_tensor(0.5),
            "labels": params.new_tensor(0.0),
        }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        member = net.part("g", params, net.part("net.features", params, batch.x))[:, 0]
        other = net.part("g", params, net.part("net.features", params, batch.weak))[:, 0]
        said, visits = state["said"][batch.index], state["visits"][batch.index]
        lately, waited = self._mean(said, visits), (visits >= self.window).to(other.dtype)
        kept = lately >= state["threshold"]

        first, second = net(frozen(params), batch.weak, batch.other)
        q = _mixing.sharpened(self.temperature, first, second)
        all_kept = torch.cat([torch.ones_like(batch.y, dtype=torch.bool), kept, kept])
        rows, targets = _mixing.mixed(
            torch.cat([batch.x, batch.weak, batch.other]),
            torch.cat([one_hot(batch.y, q), q, q]),
            batch.noise,
            all_kept,
        )
        logits, count = net(params, rows), len(batch.y)
        differs = ((logits[count:].softmax(-1) - targets[count:]) ** 2).mean(-1)
        since = batch.step - self.start * self.steps
        begun = (since >= 0).to(logits.dtype)
        weight = self.weight * (since / (self.warmup * self.steps)).clamp(0, 1)
        share = state["labels"] / (state["labels"] + batch.rows)  # of labeled rows among all
        labeled = begun * cross_entropy(logits[:count], targets[:count])
        labeled = labeled + share * binary(member, torch.ones_like(member))
        unlabeled = (1 - share) * binary(other, waited * lately)
        unlabeled = unlabeled + weight * mean_of(all_kept[count:], differs)

        place = visits.remainder(self.window)[:, None]
        said = said.scatter(1, place, other.detach().sigmoid()[:, None])
        after = {
            **state,
            "said": state["said"].index_copy(0, batch.index, said),
            "visits": state["visits"].index_copy(0, batch.index, visits + 1),
        }
        return labeled, unlabeled, after

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        met = torch.arange(len(state["visits"]), device=params.device) < rows.count
        lately = self._mean(state["said"], state["visits"])
        threshold = otsu(lately, met & (state["visits"] > 0))
        return {**state, "threshold": threshold, "labels": rows.labels.to(threshold.dtype)}

    def _mean(self, said: Tensor, visits: Tensor) -> Tensor:
        return said.sum(-1) / visits.clamp(1, self.window)

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        member = net.part("g", params, net.part("net.features", params, rows))
        return 1 - member[:, 0].sigmoid()


def otsu(scores: Tensor, valid: Tensor) -> Tensor:
    """The least score of the upper group, for the two groups that differ most: the largest w0 w1
    (m0 - m1)^2.
    """
    if len(scores) == 1:
        return torch.full_like(scores[0], 0.5)
    ordered = scores.masked_fill(~valid, torch.inf).sort().values
    n, low = valid.sum(), torch.arange(1, len(scores), device=scores.device)
    sums = ordered.masked_fill(ordered == torch.inf, 0).cumsum(0)
    high = (n - low).clamp(min=1)
    apart = low * high * (sums[:-1] / low - (sums[-1] - sums[:-1]) / high) ** 2
    best = apart.masked_fill(low >= n, -1).argmax(keepdim=True)
    parted = ordered[1:].gather(0, best)[0]
    return torch.where(n > 1, parted, torch.full_like(parted, 0.5))
