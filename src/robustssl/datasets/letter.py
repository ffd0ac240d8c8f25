"""Letter recognition (D. J. Slate, 1991)."""

from robustssl.data import Dataset
from robustssl.datasets._carried import keel
from robustssl.downloads.sources import fetch_table

version = 1
owner = "D. J. Slate"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load() -> Dataset:
    """20,000 printed capital letters of 26 classes, 16 measurements of their shape each."""
    return fetch_table(
        "letter",
        shape=(20_000, 16),
        sha256="e2ca99e7985aaddcba5c1d92a47fd3ffa1844ce715ab390291695c272c0130b4",
        owner=owner,
        licence=licence,
        openml=6,
        carried=keel("letter"),
    )
