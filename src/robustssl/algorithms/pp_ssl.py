"""PP-SSL, prediction-powered semi-supervised learning (Shoham et al., 2025, arXiv:2510.22586)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

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
)
from robustssl.spec import Count

FOLDS = 2


@dataclass(eq=False, repr=False, kw_only=True)
class PPSSL(DeepClassifier):
    """A gradient that unlabeled rows make less noisy and, if they are consistent, not biased: g_n +
    lambda (g_N^f - g_n^f). Here g_n is the gradient of the labeled loss, and g_N^f and g_n^f are
    those of the losses of unlabeled and of labeled rows with the labels that a teacher f gives
    them. lambda is found online: a step of AdaGrad on h(lambda) = |g_n + lambda (g_N^f - g_n^f)|^2,
    kept between 0 and 1, follows every step of the net.

    In a first stage two teachers are trained, each on every other labeled row. A labeled row gets
    the label of the teacher that has not seen it, an unlabeled row that of their mean.

    Departures: the authors are given a teacher that was trained on other data; there are none here,
    and a teacher answers the rows that it was trained on better than new ones, which would bias the
    gradient, so teachers are cross-fitted (Zrnic and Candes, 2024, arXiv:2309.16598); the net is
    trained by the study's optimizer, not by AdaGrad; lambda starts at 0 and the unlabeled batch is
    7 times the labeled one, as in FixMatch: the authors' code could not be had, and what could be
    read of the paper says only that the unlabeled batch is much larger.
    """

    ratio: Count = 7

    version = 1
    targets: ClassVar[dict[str, str]] = {"consistent": "arXiv:2510.22586, abstract: unbiased"}
    views = ("weak",)
    stages = ("teach", "loss")

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        return {_teacher(fold): build() for fold in range(FOLDS)}

    def init(self, params: Tensor, shape: Shape) -> State:
        zero = params.new_zeros(())
        return {"teachers": params.clone(), "lambda": zero, "slopes": zero}

    def teach(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        """The loss of every teacher on the labeled rows that are not of its fold."""
        losses = []
        for fold in range(FOLDS):
            logits = net.part(_teacher(fold), params, batch.x)
            seen = batch.x_index % FOLDS != fold
            losses.append(mean_of(seen, cross_entropy(logits, batch.y, reduction="none")))
        labeled = torch.stack(losses).sum()
        return labeled, 0 * labeled, state

    def handover(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        return {**state, "teachers": params}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        teachers = frozen(state["teachers"])
        answers = [net.part(_teacher(fold), teachers, batch.x, batch.weak) for fold in range(FOLDS)]
        unseen = torch.stack([x for x, _ in answers])
        of_x = unseen[batch.x_index % FOLDS, torch.arange(len(batch.y), device=batch.y.device)]
        of_u = torch.stack([u.softmax(-1) for _, u in answers]).mean(0)
        x, u = net(params, batch.x, batch.weak)
        difference = cross_entropy(u, of_u.argmax(-1)) - cross_entropy(x, of_x.argmax(-1))
        return cross_entropy(x, batch.y), difference, state

    def combine(self, labeled: Tensor, unlabeled: Tensor, state: State) -> tuple[Tensor, State]:
        gradient = labeled + state["lambda"] * unlabeled
        slope = 2 * (gradient * unlabeled).sum()
        slopes = state["slopes"] + slope**2
        step = slope / (2 * slopes).clamp(min=torch.finfo(slopes.dtype).tiny).sqrt()
        after = {"lambda": (state["lambda"] - step).clamp(0, 1), "slopes": slopes}
        return gradient, {**state, **after}


def _teacher(fold: int) -> str:
    return f"teacher{fold}"
