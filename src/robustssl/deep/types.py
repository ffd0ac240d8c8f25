"""What the engine and an algorithm hand each other: the tensors of one model, without its stack."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

State = dict[str, Tensor]
Loss = tuple[Tensor, Tensor, State]


@dataclass(frozen=True)
class Shape:
    """What a model's state is sized by; `rows` counts the unlabeled ones, padding included; `row`
    is the shape of one, as the net sees it.
    """

    rows: int
    row: tuple[int, ...]
    classes: int
    steps: int


@dataclass(frozen=True, eq=False)
class Batch:
    """What one step sees: a weak view of labeled rows with their classes, views of unlabeled ones,
    and maybe a strong view of the labeled ones, `x_strong`.

    A view that the algorithm does not name in `views` is None. `index` holds the places of the
    unlabeled rows, of which there are `rows` in all; `noise` is what the algorithm drew.
    """

    x: Tensor
    y: Tensor
    step: Tensor
    index: Tensor
    rows: Tensor
    weak: Any = None
    other: Any = None  # a second weak view
    strong: Any = None
    x_strong: Any = None
    noise: Any = None


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of a model, as `refresh` sees them. Labeled rows from `labels` on are padding, and
    unlabeled ones from `count` on.
    """

    x: Tensor
    y: Tensor
    labels: Tensor
    unlabeled: Tensor
    count: Tensor


def one_hot(labels: Tensor, like: Tensor) -> Tensor:
    """Rows of the identity, as wide as the rows of `like` and of its type."""
    return (labels[:, None] == torch.arange(like.shape[-1], device=like.device)).to(like.dtype)


def frozen(params: Tensor) -> Tensor:
    """Parameters through which no gradient flows."""
    return params.detach()
