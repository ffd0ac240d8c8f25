"""The shapes of rows that nets take."""

import math

from torch import Tensor

Shape = tuple[int, ...]


def is_image(shape: Shape) -> bool:
    return len(shape) == 3


def width(shape: Shape) -> int:
    """The number of inputs of a net: features or pixels."""
    return math.prod(shape) if is_image(shape) else shape[0]


def centred(images: Tensor) -> Tensor:
    """Images in [0, 1], shifted and scaled by constants: the scale must not depend on the rows."""
    return (images - 0.5) * 4


def flat(rows: Tensor) -> Tensor:
    """One vector for each row: its features, or its centred pixels."""
    return centred(rows).flatten(1) if rows.ndim == 4 else rows
