"""Convolutions that are folded with the batch normalisation behind them, as pretrained nets use
them: one weight and one bias each.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor
from torch.nn.functional import conv2d

from robustssl.encoders._images import Weights

Array = npt.NDArray[Any]


def fold(name: str, kernel: Array, norm: Iterable[Array], epsilon: float) -> dict[str, Array]:
    """A kernel (out, in, height, width) and the scale, shift, mean and variance of the
    normalisation behind it, as one weight and one bias.
    """
    scale, shift, mean, variance = norm
    factor = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + epsilon)
    weight, bias = kernel * factor[:, None, None, None], shift - mean * factor
    return {f"{name}.weight": weight.astype(np.float32), f"{name}.bias": bias.astype(np.float32)}


def convolve(
    x: Tensor, weights: Weights, name: str, stride: int = 1, padding: int = 0, groups: int = 1
) -> Tensor:
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return conv2d(x, weight, bias, stride, padding, groups=groups)
