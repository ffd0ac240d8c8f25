"""CIFAR-100 (A. Krizhevsky, 2009), from its binary version, which its owner offers."""

import numpy as np

from robustssl.data import Dataset
from robustssl.downloads.cache import Arrays, Source, cache
from robustssl.downloads.sources import fetch_images, openml_images

version = 1
kind = "image"
owner = "A. Krizhevsky"
licence = "not stated"


def _local() -> Arrays:
    """Each record: a coarse label, a fine one, then 1,024 pixels of each channel."""
    folder = cache() / "cifar-100-binary"
    raw = np.concatenate(
        [np.fromfile(folder / name, np.uint8) for name in ("train.bin", "test.bin")]
    )
    records = raw.reshape(-1, 2 + 3072)
    classes = (folder / "fine_label_names.txt").read_text().split()
    X = records[:, 2:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return {"X": X, "y": records[:, 1].astype(np.intp), "classes": np.array(classes)}


def load(encoder: str = "pixels") -> Dataset:
    """60,000 small colour photographs of 100 kinds of things, 32 x 32 pixels."""
    place = cache() / "cifar-100-binary"
    source = Source(f"{place}, the unpacked archive cifar-100-binary.tar.gz of its owner", _local)
    openml = openml_images(41983, (3, 32, 32), [str(k) for k in range(100)], sha256=None)
    return fetch_images("cifar100", source, openml, owner=owner, licence=licence, encoder=encoder)
