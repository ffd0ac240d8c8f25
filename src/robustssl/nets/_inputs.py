"""Rows as nets see them."""

import math

from torch import Tensor

Shape = tuple[int, ...]


def is_image(shape: Shape) -> bool:
    return len(shape) == 3


def width(shape: Shape) -> int:
    """The numbers in a row: features, or pixels; of a text in versions, those of one version."""
    return math.prod(shape) if is_image(shape) else shape[0]


def centred(images: Tensor) -> Tensor:
    """Of [0, 1], by constants: what the rows are like must not decide how they are scaled."""
    return (images - 0.5) * 4
