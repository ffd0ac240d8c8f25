"""ResNet-50 (He et al., 2016: arXiv:1512.03385), pretrained on ImageNet."""

from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d

from robustssl.deep.net import BatchNorm, Headed
from robustssl.downloads.cache import Arrays
from robustssl.downloads.weights import RESNET50_EPSILON, RESNET50_MEAN, resnet50
from robustssl.errors import InputError
from robustssl.nets._inputs import Shape, is_image
from robustssl.nets._pretrained import pretrained
from robustssl.spec import Count
from robustssl.views.images import resizing

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet


class ResNet50(Headed):
    """A pretrained ResNet with a new head; grey images get three equal channels.

    weights: `imagenet` are those of the encoder resnet50; or a folder or a name on the hub, with a
    ResNet of transformers, of any depth.
    size: the pixels, across and along, to which images are resized.
    frozen: train only the head, on features normalised by the statistics that come with the
    weights.
    """

    stacks = False
    rows: Tensor
    columns: Tensor

    def __init__(
        self,
        shape: Shape,
        classes: int,
        *,
        weights: str = "imagenet",
        size: Count = 160,
        frozen: bool = False,
    ) -> None:
        super().__init__()
        if not is_image(shape) or shape[2] not in (1, 3):
            raise InputError("resnet50 takes images: (rows, height, width, 1 or 3 channels)")
        for name, length in zip(("rows", "columns"), shape, strict=False):
            self.register_buffer(name, resizing(length, size))
        self.body = _Keras(resnet50()) if weights == "imagenet" else _Transformers(weights)
        self.frozen = frozen
        if frozen:
            self.body.requires_grad_(False)
        else:
            _replace_norms(self.body)
        self.head = nn.Linear(self.body.width, classes)
        self.train()

    def train(self, mode: bool = True) -> Self:
        """A frozen body is never in training mode, so that it keeps its own statistics."""
        super().train(mode)
        if self.frozen:
            self.body.eval()
        return self

    def features(self, x: Tensor) -> Tensor:
        features: Tensor = self.body((self.rows @ x @ self.columns.T).clamp(0, 1))
        return features


class _Keras(nn.Module):
    """ResNet-50 in the form of Keras: the first convolution of a block has its stride, and colours
    are blue, green, red.
    """

    mean: Tensor

    def __init__(self, arrays: Arrays) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(RESNET50_MEAN)[:, None, None])
        self.stem = _layer(arrays, "conv1", 2)
        self.blocks = nn.Sequential(
            *(
                _Block(arrays, f"res{stage}{block}_branch", 2 if block == "a" and stage > 2 else 1)
                for stage, blocks in ((2, 3), (3, 4), (4, 6), (5, 3))
                for block in "abcdef"[:blocks]
            )
        )
        self.width = len(arrays["res5c_branch2c.weight"])

    def forward(self, images: Tensor) -> Tensor:
        x = self.stem(images.flip(1) * 255 - self.mean).relu()
        features: Tensor = self.blocks(max_pool2d(x, 3, stride=2, padding=1))
        return features.mean((2, 3))


class _Block(nn.Module):
    def __init__(self, arrays: Arrays, name: str, stride: int) -> None:
        super().__init__()
        self.narrow, self.inside = _layer(arrays, f"{name}2a", stride), _layer(arrays, f"{name}2b")
        self.widen = _layer(arrays, f"{name}2c")
        shortcut = f"{name}1"
        self.shortcut = (
            _layer(arrays, shortcut, stride) if f"{shortcut}.weight" in arrays else nn.Identity()
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.widen(self.inside(self.narrow(x).relu()).relu())
        both: Tensor = y + self.shortcut(x)
        return both.relu()


def _layer(arrays: Arrays, name: str, stride: int = 1) -> nn.Sequential:
    """A convolution and the normalisation behind it."""
    names = ("weight", "scale", "shift", "mean", "variance")
    kernel, *values = (torch.tensor(np.asarray(arrays[f"{name}.{n}"], np.float32)) for n in names)
    after, before, size, _ = kernel.shape
    convolve = nn.Conv2d(before, after, size, stride, padding=size // 2, bias=False)
    norm = nn.BatchNorm2d(after, RESNET50_EPSILON)
    convolve.weight.data = kernel
    norm.weight.data, norm.bias.data, norm.running_mean, norm.running_var = values
    return nn.Sequential(convolve, norm)


class _Transformers(nn.Module):
    """A ResNet of transformers."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, weights: str) -> None:
        super().__init__()
        self.net = pretrained(weights)
        if self.net.config.model_type != "resnet":
            raise InputError(f"{weights!r} is a {self.net.config.model_type}, not a resnet")
        self.width = self.net.config.hidden_sizes[-1]
        for name, values in (("mean", MEAN), ("deviation", DEVIATION)):
            self.register_buffer(name, torch.tensor(values)[:, None, None])

    def forward(self, images: Tensor) -> Tensor:
        coloured = (images - self.mean) / self.deviation  # a single channel becomes three
        features: Tensor = self.net(coloured).pooler_output.flatten(1)
        return features


def _replace_norms(body: Any) -> None:
    """Replace batch normalisation by the layer that `Net` knows, with the same weights and
    statistics.
    """
    for part in list(body.modules()):
        for name, old in part.named_children():
            if isinstance(old, nn.BatchNorm2d):
                new = BatchNorm(old.num_features, old.eps)
                new.weight, new.bias = old.weight, old.bias
                new.register_buffer("mean", old.running_mean)
                new.register_buffer("variance", old.running_var)
                setattr(part, name, new)
