"""What the engine passes to an algorithm: the tensors of one model, without its stack."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

State = dict[str, Tensor]
Loss = tuple[Tensor, Tensor, State]


@dataclass(frozen=True)
class Shape:
    """The sizes that a model's state may depend on: `rows` and `labels`, the numbers of unlabeled
    and of labeled rows with padding, and `row`, the shape of one row as the net sees it. `blocks`
    are the numbers of columns of each encoder, where vectors of several stand side by side.
    """

    rows: int
    labels: int
    row: tuple[int, ...]
    classes: int
    steps: int
    blocks: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Batch:
    """What one step sees: a weak view `x` of labeled rows with their classes `y`, views of
    unlabeled rows, and optionally a second weak view and a strong view of the labeled rows,
    `x_other` and `x_strong`.

    A view that the algorithm does not name in `views` is None. `index` holds the positions of the
    unlabeled rows among all `rows` of them; `noise` is what the algorithm's `noise` drew.
    """

    x: Tensor
    y: Tensor
    step: Tensor
    index: Tensor
    rows: Tensor
    weak: Any = None
    other: Any = None  # a second weak view
    strong: Any = None
    x_other: Any = None
    x_strong: Any = None
    noise: Any = None
    x_index: Any = None  # the positions of the labeled rows among all labeled rows


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of a model, for `refresh`. Only the first `labels` labeled rows and the first
    `count` unlabeled rows are real; the others are padding.
    """

    x: Tensor
    y: Tensor
    labels: Tensor
    unlabeled: Tensor
    count: Tensor


def one_hot(labels: Tensor, like: Tensor) -> Tensor:
    """Labels as one-hot rows, of the width and the dtype of `like`."""
    return (labels[:, None] == torch.arange(like.shape[-1], device=like.device)).to(like.dtype)


def frozen(params: Tensor) -> Tensor:
    """The same parameters, through which no gradient flows."""
    return params.detach()
