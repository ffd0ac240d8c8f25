"""Virtual Adversarial Training (Miyato et al., 2018: arXiv:1704.03976)."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch.func import vjp

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
from robustssl.method import Preset
from robustssl.spec import Count, NotNegative

SAMPLE = 256  # rows whose nearest neighbours are looked for


@dataclass(eq=False, repr=False, kw_only=True)
class VAT(DeepClassifier):
    """The prediction should not change in the direction in which it changes most: CE + weight r
    KL(sg p(u) || p(u + e)) + entropy H(p(u)), where r is a ramp and sg stops the gradient. The
    direction of e is F d, where d is random and F is the Fisher matrix of the prediction at u: one
    power iteration, computed exactly instead of by a finite difference.

    radius: the length of e, divided by the median distance of a row to its nearest neighbour. So it
    means the same in vectors, images and tables, whatever their scale and number of features. The
    authors give one length for each set of images: 8 for CIFAR-10 after ZCA, where that distance is
    48.9. (The 6 of `reference` are for standardised images, where it is 37: nearly the same share.)
    warmup: the share of the steps in which r rises; 0: no ramp.

    Departures: the radius is relative, as above; the direction is exact; the labeled rows are not
    among the unlabeled ones; no dropout.
    """

    weight: NotNegative = 1.0
    entropy: NotNegative = 1.0
    radius: NotNegative = 8 / 48.9
    warmup: NotNegative = 0.0
    ratio: Count = 4

    version = 3
    targets: ClassVar[dict[str, str]] = {"consistent": "arXiv:1704.03976, abstract"}
    views = ("weak",)
    refresh_every = sys.maxsize  # once, before the first step
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("takerum/vat_tf: README.md, train_semisup.py (method vatent)", {}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/VAT.py",
            {"weight": 0.3, "entropy": 0.06, "radius": 6 / 37, "warmup": 0.4, "ratio": 1},
        ),
    }

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """The direction d of every row."""
        return rng.standard_normal(size, np.float32)

    def init(self, params: Tensor, shape: Shape) -> State:
        """The median distance of a row to its nearest neighbour."""
        return {"apart": params.new_ones(())}

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        return {**state, "apart": distance_apart(rows).to(state["apart"].dtype)}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        rows = batch.weak
        logits = net(params, rows)
        p = logits.detach().softmax(-1)
        exact = frozen(state["params"])
        direction = adversarial(lambda u: net.plain(exact, u), rows, batch.noise)
        moved = rows + self.radius * state["apart"] * direction
        divergence = cross_entropy(net(params, moved), p) - _entropy(
            p.log().nan_to_num(neginf=0), p
        )
        entropy = _entropy(logits.log_softmax(-1), logits.softmax(-1))
        ramp = ((batch.step + 1) / max(1, self.warmup * self.steps)).clamp(max=1)
        unlabeled = self.weight * ramp * divergence + self.entropy * entropy
        return cross_entropy(net(params, batch.x), batch.y), unlabeled, state


def distance_apart(rows: Rows) -> Tensor:
    """The median distance between an unlabeled row and the nearest row that differs from it. The
    unlabeled rows are a sample, spread evenly over all.
    """
    labeled, unlabeled = rows.x.flatten(1).double(), rows.unlabeled.flatten(1).double()
    here = {"device": labeled.device}
    some = unlabeled[torch.arange(SAMPLE, **here) * rows.count // SAMPLE]
    everyone = torch.cat([labeled, unlabeled])
    real = torch.cat(
        [
            torch.arange(len(labeled), **here) < rows.labels,
            torch.arange(len(unlabeled), **here) < rows.count,
        ]
    )
    lengths = some.square().sum(1)
    squares = lengths[:, None] + everyone.square().sum(1) - 2 * some @ everyone.T
    same = squares <= 1e-6 * lengths.mean()
    return squares.masked_fill(same | ~real, torch.inf).amin(1).median().sqrt()


def adversarial(logits: Callable[[Tensor], Tensor], rows: Tensor, start: Tensor) -> Tensor:
    """J' (diag(p) - p p') J d for every row, scaled to length 1: the Fisher matrix times d."""
    answer, pull = vjp(logits, rows)[:2]
    (change,) = vjp(lambda v: pull(v)[0], answer)[1](_unit(start))  # J d, since pull is linear
    p = answer.softmax(-1)
    weighted = p * (change - (p * change).sum(-1, keepdim=True))
    return _unit(pull(weighted)[0])


def _unit(rows: Tensor) -> Tensor:
    flat = rows.flatten(1)
    return (flat / flat.norm(dim=1, keepdim=True).clamp(min=1e-20)).view_as(rows)


def _entropy(logarithms: Tensor, p: Tensor) -> Tensor:
    return -(p * logarithms).sum(-1).mean()
