"""Showers seen by a gamma telescope, MAGIC (R. K. Bock, 2004)."""

from robustssl.data import Dataset
from robustssl.datasets._carried import keel
from robustssl.downloads.sources import fetch_table

version = 1
owner = "R. K. Bock"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load() -> Dataset:
    """19,020 simulated showers, of gamma rays or of hadrons, 10 measurements each."""
    return fetch_table(
        "magic",
        shape=(19_020, 10),
        owner=owner,
        licence=licence,
        carried=keel("magic"),
    )
