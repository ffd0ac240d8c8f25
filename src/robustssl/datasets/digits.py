"""Handwritten digits (E. Alpaydin and C. Kaynak), as bundled with scikit-learn."""

from dataclasses import replace

import numpy as np

from robustssl.data import Dataset
from robustssl.datasets._sklearn import bundled
from robustssl.errors import unknown

version = 1
owner = "E. Alpaydin and C. Kaynak"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load(kind: str = "tabular") -> Dataset:
    """1,797 handwritten digits of 10 classes, 8 x 8 grey pixels each; kind: tabular or image."""
    rows = bundled("digits", owner, licence)
    if kind == "tabular":
        return rows
    if kind != "image":
        raise unknown("kind of digits", kind, ("tabular", "image"))
    grey = np.round(rows.X * (255 / 16)).astype(np.uint8)  # of 17 levels
    return replace(rows, X=grey.reshape(-1, 8, 8, 1), kind="image")
