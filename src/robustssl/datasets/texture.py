"""Textures of Brodatz (A. Guerin-Dugue and C. Aviles-Cruz, 1993)."""

from robustssl.data import Dataset
from robustssl.datasets._carried import keel
from robustssl.downloads.sources import fetch_table

version = 1
owner = "A. Guerin-Dugue and C. Aviles-Cruz (ESPRIT project ELENA)"
licence = "not stated"


def load() -> Dataset:
    """5,500 patches of 11 textures, 40 moments each."""
    return fetch_table(
        "texture",
        shape=(5_500, 40),
        owner=owner,
        licence=licence,
        carried=keel("texture"),
    )
