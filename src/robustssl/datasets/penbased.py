"""Pen-based recognition of handwritten digits (E. Alpaydin and F. Alimoglu, 1998)."""

from robustssl.data import Dataset
from robustssl.datasets._carried import keel
from robustssl.downloads.sources import fetch_table

version = 1
owner = "E. Alpaydin and F. Alimoglu"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load() -> Dataset:
    """10,992 digits of 10 classes written with a pen, 8 points of their trace each."""
    return fetch_table(
        "penbased",
        shape=(10_992, 16),
        sha256="1657aa85e0047dd4739addb879c48f51ca276c28ddbdbb8c7fd494b20103913e",
        owner=owner,
        licence=licence,
        openml=32,
        carried=keel("penbased"),
    )
