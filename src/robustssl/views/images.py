"""Images changed in batches on the device: flip and crop, RandAugment (Cubuk et al., 2020:
arXiv:1909.13719), Cutout (DeVries and Taylor, 2017: arXiv:1708.04552).

Images are (rows, channels, height, width) in [0, 1]; a `chance` has a row of uniform numbers for
each.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import interpolate, pad

from robustssl.views._protocol import Strength
from robustssl.views._randaugment import GREY, each_image, operate


@dataclass(frozen=True)
class ImageViews:
    """Weak: flipped and shifted. Strong: also RandAugment and Cutout.

    branching: do an operation only to the images that drew it.
    """

    branching: bool = False

    def draw(
        self, rng: np.random.Generator, size: tuple[int, ...], strength: Strength
    ) -> npt.NDArray[np.float32]:
        return rng.random((*size, self.numbers(strength)), np.float32)

    def numbers(self, strength: Strength) -> int:
        """How many random numbers a view of an image takes."""
        return 3 if strength == "weak" else 9

    def plain(self, rows: Tensor) -> Tensor:
        return to_unit(rows)

    def view(self, rows: Tensor, chance: Tensor, strength: Strength) -> Tensor:
        chance = chance.float()
        weak = weak_view(to_unit(rows), chance[:, :3])
        return weak if strength == "weak" else strong_view(weak, chance[:, 3:], self.branching)


def to_unit(rows: Tensor) -> Tensor:
    """Rows of 0 to 255 with the channels last, as images in [0, 1]."""
    return rows.movedim(-1, -3).float() / 255


def resizing(before: int, after: int) -> Tensor:
    """(after, before): what each new pixel along an axis takes of each old one, by bicubic
    interpolation. It is linear, so two products of matrices resize an image: rows @ image @
    columns.T, much faster than torch on a CPU.
    """
    one = torch.eye(before)[None, None]
    matrix = interpolate(
        one, size=(after, before), mode="bicubic", align_corners=False, antialias=after < before
    )
    return matrix[0, 0]


def weak_view(images: Tensor, chance: Tensor) -> Tensor:
    """Flipped one time in two, and shifted by up to an eighth, with the border reflected."""
    flipped = torch.where(each_image(chance[:, 0] < 0.5), images.flip(-1), images)
    height, width = images.shape[-2:]
    above, beside = max(1, height // 8), max(1, width // 8)
    padded = pad(flipped, (beside, beside, above, above), mode="reflect")
    down = (chance[:, 1:2] * (2 * above + 1)).long() + torch.arange(height, device=images.device)
    right = (chance[:, 2:3] * (2 * beside + 1)).long() + torch.arange(width, device=images.device)
    rows = padded.take_along_dim(down[:, None, :, None], dim=2)
    return rows.take_along_dim(right[:, None, None, :], dim=3)


def strong_view(images: Tensor, chance: Tensor, branching: bool = False) -> Tensor:
    """Two of RandAugment's operations, then a grey square of half the width cut out."""
    once = operate(images, chance[:, 0], chance[:, 1], branching)
    return _cut_out(operate(once, chance[:, 2], chance[:, 3], branching), chance[:, 4:6])


def _cut_out(images: Tensor, centre: Tensor) -> Tensor:
    height, width = images.shape[-2:]
    down, right = (
        (torch.arange(n, device=images.device) + 0.5 - (c * n).floor()[:, None]).abs() < n / 4
        for n, c in ((height, centre[:, 0]), (width, centre[:, 1]))
    )
    return torch.where((down[:, :, None] & right[:, None, :])[:, None], GREY, images)
