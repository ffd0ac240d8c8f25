"""The operations of RandAugment (Cubuk et al., 2020: arXiv:1909.13719) on images in batches.

In training every operation is done to every image and then chosen by a mask, so that there is no
branching; before an encoder it is done to the images that drew it, which gives the same.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, avg_pool2d, grid_sample

LEVEL = 0.9  # RandAugment's magnitude, 10 of bins 0 to 10, of which the last is never drawn
GREY = 127 / 255


def operate(images: Tensor, which: Tensor, level: Tensor, branching: bool) -> Tensor:
    """One operation for each image; `level` says how much of it, and to which side."""
    sign = torch.where(level < 0.5, -1.0, 1.0)
    amount = (2 * level - 1).abs()  # uniform again
    choice = (which * (len(_COLOURS) + len(_SHAPES))).long()
    parts = [(choice == k, operation) for k, operation in enumerate(_COLOURS)]
    changed = images
    for chosen, operation in [*parts, (choice >= len(_COLOURS), _transformed)]:
        if branching:
            rows = chosen.nonzero()[:, 0]
            if len(rows):
                found = operation(images[rows], amount[rows], sign[rows], choice[rows])
                changed = changed.index_copy(0, rows, found)
        else:
            found = operation(images, amount, sign, choice)
            changed = torch.where(each_image(chosen), found, changed)
    return changed


def _transformed(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    """Rotated by up to 30 degrees, sheared or shifted by up to .3; grey comes in at the border."""
    choice, amount = choice - len(_COLOURS), LEVEL * amount * sign
    theta = torch.eye(2, 3, device=images.device).repeat(len(images), 1, 1)
    angle = amount * (torch.pi / 6)
    cosine, sine = angle.cos(), angle.sin()
    aspect = images.shape[-1] / images.shape[-2]
    for k, entries in enumerate(_SHAPES):
        one = theta.clone()
        if entries is None:
            one[:, 0, 0] = one[:, 1, 1] = cosine
            one[:, 0, 1], one[:, 1, 0] = -sine / aspect, sine * aspect
        else:
            one[:, entries[0], entries[1]] = amount * entries[2]
        theta = torch.where((choice == k)[:, None, None], one, theta)
    grid = affine_grid(theta, list(images.shape), align_corners=False)
    return grid_sample(images - GREY, grid, align_corners=False) + GREY


_SHAPES: tuple[tuple[int, int, float] | None, ...] = (
    None,  # rotated
    (0, 1, 0.3),  # sheared across
    (1, 0, 0.3),  # sheared along
    (0, 2, 0.6),  # shifted across, where the width is 2
    (1, 2, 0.6),
)


def each_image(values: Tensor) -> Tensor:
    return values[:, None, None, None]


def _blend(other: Tensor, images: Tensor, amount: Tensor, sign: Tensor) -> Tensor:
    """Towards another image or away from it: by a factor from .1 to 1.9."""
    return (other + (images - other) * (1 + LEVEL * each_image(amount * sign))).clamp(0, 1)


def _grey(images: Tensor) -> Tensor:
    if images.shape[1] != 3:
        return images.mean(1, keepdim=True).expand_as(images)
    red, green, blue = images.split(1, 1)
    return (0.299 * red + 0.587 * green + 0.114 * blue).expand_as(images)


def _identity(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    return images


def _autocontrast(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    low, high = images.amin((2, 3), keepdim=True), images.amax((2, 3), keepdim=True)
    return torch.where(high > low, (images - low) / (high - low).clamp(min=1e-6), images)


def _equalize(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    """Each level replaced by the share of pixels below it, counted as Pillow counts."""
    levels = (images * 255).round().long().flatten(2)
    counts = torch.zeros(*levels.shape[:2], 256, device=images.device)
    counts = counts.scatter_add(2, levels, torch.ones_like(levels, dtype=counts.dtype))
    brightest = torch.gather(counts, 2, levels.amax(2, keepdim=True))
    step = ((levels.shape[2] - brightest) / 255).floor()
    below = counts.cumsum(2) - counts
    table = ((below + (step / 2).floor()) / step.clamp(min=1)).floor() / 255
    equal = torch.gather(table.clamp(max=1), 2, levels).view_as(images)
    return torch.where(step[..., None] > 0, equal, images)


def _solarize(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    return torch.where(images > 1 - LEVEL * each_image(amount), 1 - images, images)


def _posterize(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    """Eight bits down to four."""
    step = torch.exp2((LEVEL * each_image(amount) * 4).round())
    return (images * 255 / step).floor() * step / 255


def _colour(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    return _blend(_grey(images), images, amount, sign)


def _contrast(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    return _blend(_grey(images).mean((1, 2, 3), keepdim=True), images, amount, sign)


def _brightness(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    return _blend(torch.zeros_like(images), images, amount, sign)


def _sharpness(images: Tensor, amount: Tensor, sign: Tensor, choice: Tensor) -> Tensor:
    """Towards or away from a blurred image, whose border is its own, as in Pillow."""
    blurred = images.clone()
    inner = (..., slice(1, -1), slice(1, -1))
    blurred[inner] = (9 * avg_pool2d(images, 3, stride=1) + 4 * images[inner]) / 13
    return _blend(blurred, images, amount, sign)


_COLOURS: tuple[Callable[[Tensor, Tensor, Tensor, Tensor], Tensor], ...] = (
    *(_identity, _autocontrast, _equalize, _solarize, _posterize),
    *(_colour, _contrast, _brightness, _sharpness),
)
