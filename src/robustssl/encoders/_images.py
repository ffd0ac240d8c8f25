"""What pretrained encoders of images share: pictures of one size, changed before they are encoded,
on a GPU if there is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from robustssl import registry
from robustssl.deep.device import device_of
from robustssl.encoders import Pretrained, Rows, chance
from robustssl.spec import Count
from robustssl.views.images import ImageViews, resizing

Array = npt.NDArray[Any]
Weights = Mapping[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class ImageEncoder(Pretrained):
    """An encoder of images. A subclass defines `weights`, `normalised` and `encoded`.

    size: the pixels, across and along, of the picture that is encoded.
    weak, strong: how many views of each image are kept. Weak ones are flipped and shifted; strong
    ones are changed by RandAugment and Cutout too.
    """

    size: Count = 160

    kind: ClassVar[Literal["image", "text"]] = "image"

    @staticmethod
    def weights() -> dict[str, Array]:
        raise NotImplementedError

    @staticmethod
    def normalised(images: Tensor) -> Tensor:
        """Images, (n, 3, size, size) in [0, 1], as the net takes them."""
        raise NotImplementedError

    @staticmethod
    def encoded(images: Tensor, weights: Weights) -> Tensor:
        """The vectors of normalised images."""
        raise NotImplementedError

    def encode(self, rows: Rows, digests: Sequence[bytes], version: int) -> Array:
        device = device_of("auto")
        weights, dtype = _placed(self.spec, device), _precision(device)
        with torch.inference_mode():
            pixels = torch.from_numpy(np.array(rows)).to(device)
            images = self._changed(pixels, digests, version)
            if images.shape[1] == 1:
                images = images.expand(-1, 3, -1, -1)
            images = self.normalised(resized(images, self.size).clamp(0, 1)).to(dtype)
            images = images.contiguous(memory_format=torch.channels_last)
            return np.asarray(self.encoded(images, weights).half().cpu())

    def _changed(self, pixels: Tensor, digests: Sequence[bytes], version: int) -> Tensor:
        views, strength = ImageViews(branching=True), self.strength(version)
        if strength is None:
            return views.plain(pixels)
        drawn = torch.from_numpy(chance(digests, version, views.numbers(strength)))
        return views.view(pixels, drawn.to(pixels.device), strength)


def _precision(device: torch.device) -> torch.dtype:
    return torch.bfloat16 if device.type == "cuda" else torch.float32


@lru_cache(maxsize=2)
def _placed(encoder: str, device: torch.device) -> Weights:
    """The weights of an encoder on the device, laid out for convolutions."""
    tensors = {
        name: torch.tensor(np.asarray(array)).to(device, _precision(device))
        for name, array in registry.encoder(encoder).weights().items()
    }
    return {
        name: value.contiguous(memory_format=torch.channels_last) if value.ndim == 4 else value
        for name, value in tensors.items()
    }


def resized(images: Tensor, size: int) -> Tensor:
    """Images of size x size pixels."""
    rows, columns = (_resizing(length, size, str(images.device)) for length in images.shape[2:])
    return rows @ images @ columns.T


@lru_cache(maxsize=8)
def _resizing(before: int, after: int, device: str) -> Tensor:
    return resizing(before, after).to(device)
