"""Weak and strong views of the rows of tables, of images, and of a bank. Only images import torch
here, since statistical methods run without it.
"""

from typing import Literal

from robustssl.views._protocol import Strength, Views
from robustssl.views.tables import TableViews
from robustssl.views.vectors import VectorViews

__all__ = ["LABELED_VIEWS", "VIEWS", "Form", "Strength", "Views", "views_of"]

Form = Literal["table", "image", "vectors"]

VIEWS: dict[str, Strength] = {
    "weak": "weak",
    "other": "weak",
    "strong": "strong",
    "x_other": "weak",
    "x_strong": "strong",
}
LABELED_VIEWS = frozenset({"x_other", "x_strong"})  # of labeled rows; the others of unlabeled ones


def views_of(
    form: Form, shape: tuple[int, ...], noise: tuple[float, float], views: tuple[int, int]
) -> Views:
    """The views of rows, each of the shape given; the noise on tables, and the number of views in a
    bank, are those of weak and strong views.
    """
    if form == "table":
        return TableViews(shape[0], *noise)
    if form == "vectors":
        return VectorViews(*views)
    from robustssl.views.images import ImageViews  # imports torch

    return ImageViews()
