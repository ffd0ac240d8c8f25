"""Weak and strong views of rows. The shape of the rows says which views they have:

tables (rows, features); versions of encoded texts (rows, features, 1 + 2 versions: the text itself,
then weakly and strongly changed ones); images (rows, height, width, channels) in whole numbers from
0 to 255. Only images import torch here, since statistical methods run without it.
"""

from robustssl.views._protocol import Strength, Views
from robustssl.views.tables import TableViews
from robustssl.views.texts import TextViews

__all__ = ["VIEWS", "Strength", "Views", "views_of"]

VIEWS: dict[str, Strength] = {
    "weak": "weak",
    "other": "weak",
    "strong": "strong",  # of unlabeled rows
    "x_strong": "strong",  # of labeled rows
}


def views_of(shape: tuple[int, ...], weak: float, strong: float) -> Views:
    """The views of rows, each of the shape given; weak and strong: the noise on tables."""
    if len(shape) == 1:
        return TableViews(shape[0], weak, strong)
    if len(shape) == 2:
        return TextViews((shape[1] - 1) // 2)
    from robustssl.views.images import ImageViews  # imports torch

    return ImageViews()
