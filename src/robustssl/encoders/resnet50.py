"""ResNet-50 (K. He et al., 2016: arXiv:1512.03385), pretrained on ImageNet by its authors, in the
form of Keras: the first convolution of a block has its stride, colours are blue, green, red.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from robustssl.downloads.cache import Arrays
from robustssl.downloads.weights import RESNET50_EPSILON, RESNET50_MEAN, resnet50
from robustssl.encoders._folded import convolve, fold
from robustssl.encoders._images import ImageEncoder, Weights

_STAGES = ((2, 3), (3, 4), (4, 6), (5, 3))  # number, blocks


@dataclass(frozen=True, kw_only=True)
class ResNet50(ImageEncoder):
    """ResNet-50, pretrained on ImageNet: 2,048 numbers of an image; wants a GPU."""

    width: ClassVar[int] = 2048

    @staticmethod
    def weights() -> Arrays:
        found = resnet50()
        names = {name.removesuffix(".weight") for name in found if found[name].ndim == 4}
        fields = ("scale", "shift", "mean", "variance")
        arrays: Arrays = {}
        for name in names:
            norm = (found[f"{name}.{field}"] for field in fields)
            arrays |= fold(name, found[f"{name}.weight"], norm, RESNET50_EPSILON)
        return arrays

    @staticmethod
    def normalised(images: Tensor) -> Tensor:
        mean = torch.tensor(RESNET50_MEAN, device=images.device)[:, None, None]
        return images.flip(1) * 255 - mean

    @staticmethod
    def encoded(images: Tensor, weights: Weights) -> Tensor:
        x = convolve(images, weights, "conv1", stride=2, padding=3).relu()
        x = max_pool2d(x, 3, stride=2, padding=1)
        for stage, blocks in _STAGES:
            for block in "abcdef"[:blocks]:
                stride = 2 if block == "a" and stage > 2 else 1
                name = f"res{stage}{block}_branch"
                y = convolve(x, weights, f"{name}2a", stride).relu()
                y = convolve(y, weights, f"{name}2b", padding=1).relu()
                y = convolve(y, weights, f"{name}2c")
                x = (y + (convolve(x, weights, f"{name}1", stride) if block == "a" else x)).relu()
        return x.mean((2, 3))
