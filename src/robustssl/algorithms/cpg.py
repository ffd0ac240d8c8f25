"""CPG (Hou et al., 2025: arXiv:2510.03993), controllable pseudo-label generation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import normalize

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
    one_hot,
)
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative, Range, Share

AGREEMENT = 0.8  # the share of a row's guesses that must be of one class
COPIES = 10  # of a row's features, in a class that is neither rare nor frequent


@dataclass(eq=False, repr=False, kw_only=True)
class CPG(DeepClassifier):
    """Unlabeled rows become labeled rows. A guess is confident if it is so on the weak and on the
    strong view and the same on both; a row whose confident guesses agree joins the labeled rows,
    with the shares of its guesses as target, until the next selection. So the class shares of all
    labeled rows are known: their logarithm is added to the logits in the loss, and that of the
    shares of selected rows to the logits of a guess. Copies of a row's features with noise count as
    more rows, more of them in rare classes. A second head learns from all unlabeled rows, for the
    features alone.

    votes: confident guesses that a row needs to be selected. smoothing: of targets. start: the
    share of the steps before guesses count. period: that of the steps between two selections.

    Departures: one vote instead of 13, since a row of a short run is visited a few times in the
    five epochs between two selections, and 200 times in the authors'; selected rows are learned
    when they are in the unlabeled batch, weighted as if they were drawn together with the labeled
    rows; one noisy copy of a row counts as often as the authors make copies; the centre of a class,
    and the noise that follows from how much rows resemble it, are those of the step's rows; strong
    views of labeled rows, which the authors only pass through the net, are left out.
    """

    threshold: NotNegative = 0.95
    smoothing: Annotated[float, Range(least=0, below=1)] = 0.1
    votes: Count = 1
    start: Share = 30 / 256
    period: Share = 5 / 256
    ratio: Count = 7

    targets: ClassVar[dict[str, str]] = {"prior": "arXiv:2510.03993, abstract"}
    collapses: ClassVar[dict[str, str]] = {
        "weak_signal_in_128_features": "the second head learns its own guesses from the first step "
        "on, sure or not, as in the authors' code: .55, without that term .87, baseline .79 "
        "(5 seeds)"
    }
    views = ("weak", "strong")
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset(
            "yaxinhou/CPG: semilearn/imb_algorithms/cpg/cpg.py, config/config-0/cpg", {"votes": 13}
        )
    }
    space: ClassVar[Space] = {
        "threshold": (0.8, 0.9, 0.95, 0.98),
        "smoothing": Between(0.02, 0.5, log=True),
    }

    @property
    def refresh_every(self) -> int:  # type: ignore[override]
        return max(1, round(self.period * self.steps))

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        self.width_ = features  # for `noise`
        return {"second": nn.Linear(features, classes)}

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """For the copy of every row, and every feature."""
        return rng.standard_normal((size[0], self.batch + size[1], self.width_), np.float32)

    def init(self, params: Tensor, shape: Shape) -> State:
        """The confident guesses of every row since the last selection, the targets of selected
        rows, and how many rows of each class were labeled and were selected.
        """
        rows = params.new_zeros((shape.rows, shape.classes))
        none = params.new_zeros(shape.classes)
        return {"votes": rows, "targets": rows, "labels": none, "selected": none}

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        known = torch.arange(len(rows.y), device=params.device) < rows.labels
        count, most = state["votes"].sum(-1), state["votes"].amax(-1)
        chosen = ((count >= self.votes) & (most > AGREEMENT * count))[:, None]
        label = chosen * one_hot(state["votes"].argmax(-1), state["votes"])
        return {
            "votes": label,  # a row that was selected keeps one vote
            "targets": chosen * state["votes"] / count.clamp(min=1)[:, None],
            "labels": known.to(params.dtype) @ one_hot(rows.y, label),
            "selected": label.sum(0),
        }

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        z = net.part("net.features", params, batch.x, batch.weak, batch.strong)
        logits, strong = net.part("net.head", params, torch.cat(z[:2]), z[2])
        second, strong_second = net.part("second", params, torch.cat(z[:2]), z[2])
        begun, n = (batch.step >= self.start * self.steps).to(logits.dtype), len(batch.y)
        smoothing = (1 - begun) * self.smoothing  # in the targets of the second head

        shares = state["labels"] + state["selected"]
        adjustment = (shares / shares.sum()).log()
        label = smoothed(one_hot(batch.y, logits), self.smoothing)
        target = torch.cat([label, state["targets"][batch.index]])
        weight = drawn_together(target, n, state)
        rows, known = torch.cat(z[:2]), target.argmax(-1)
        noisy = rows + batch.noise * radius(rows, target, weight)[known, None] * normalize(rows)
        copies = (begun * self._copies(batch, shares))[known]
        of_row = cross_entropy(logits + adjustment, target, reduction="none")
        copied = net.part("net.head", params, noisy) + adjustment
        of_row = of_row + copies * cross_entropy(copied, target, reduction="none")
        of_row = of_row / (weight * (1 + copies)).sum()
        hard = smoothed(one_hot(known, logits), smoothing)
        of_row = of_row + cross_entropy(second + adjustment, hard, reduction="none")
        of_row = weight * of_row
        guess = smoothed(one_hot(second[n:].detach().argmax(-1), second), smoothing)
        unlabeled = of_row[n:].sum() + cross_entropy(strong_second, guess)

        prior = self._prior(state)
        weak_p, strong_p = ((u.detach() + prior).softmax(-1) for u in (logits[n:], strong))
        sure = torch.minimum(weak_p.amax(-1), strong_p.amax(-1))
        sure = sure >= self.threshold * (1 - self.smoothing)
        agreed = sure & (weak_p.argmax(-1) == strong_p.argmax(-1))
        votes = begun * agreed[:, None] * one_hot(weak_p.argmax(-1), weak_p)
        after = {**state, "votes": state["votes"].index_add(0, batch.index, votes)}
        return of_row[:n].sum(), unlabeled, after

    def _copies(self, batch: Batch, shares: Tensor) -> Tensor:
        """How often the noisy copy of a row counts, by class."""
        third = shares.sort().values[len(shares) // 3]
        first = batch.step < self.start * self.steps + self.refresh_every
        return torch.where(first, COPIES, (COPIES * third / shares).floor())

    def _prior(self, state: State) -> Tensor:
        """The logarithms of the class shares of the selected rows. A class with no more of them
        than the rarest class has labels gets the least share of the others.
        """
        found = state["selected"] > state["labels"].min()
        least = torch.where(found, state["selected"], torch.inf).amin()
        counts = torch.where(found, state["selected"], least)
        counts = torch.where(found.any(), counts, 1)
        return (counts / counts.sum()).log()


def smoothed(target: Tensor, smoothing: Tensor | float) -> Tensor:
    """One-hot targets of which a part goes to the other classes."""
    return target * (1 - smoothing) + (1 - target) * smoothing / (target.shape[-1] - 1)


def drawn_together(target: Tensor, labels: int, state: State) -> Tensor:
    """The weights of rows, with sum 1, as if they were drawn from labeled and selected rows. The
    first rows are labeled ones, and the target of a row that is not selected is 0.
    """
    known = torch.arange(len(target), device=target.device) < labels
    chosen = ~known & (target.sum(-1) > 0)
    number = state["labels"].sum() * known / known.sum()
    number = number + state["selected"].sum() * chosen / chosen.sum().clamp(min=1)
    return number / number.sum()


def radius(rows: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """The size of the noise by class: 1 over how much the rows of a class resemble their centre,
    from 0 to 1 in the mean, and scaled to sum to 1.
    """
    rows = rows.detach()
    own = weight[:, None] * one_hot(target.argmax(-1), target)
    total = own.sum(0)
    found = total > 0
    centres = own.T @ rows / total.clamp(min=1e-12)[:, None]
    cosines = normalize(rows) @ normalize(centres).T
    resemblance = (own * (cosines + 1) / 2).sum(0) / total.clamp(min=1e-12)
    noise = torch.where(found, 1 / resemblance.clamp(min=1e-12), 1)
    return noise / noise.sum()
