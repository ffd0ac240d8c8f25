"""Land seen by a satellite, Landsat MSS (A. Srinivasan, 1993)."""

from robustssl.data import Dataset
from robustssl.datasets._carried import keel
from robustssl.downloads.sources import fetch_table

version = 1
owner = "A. Srinivasan, University of Strathclyde"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load() -> Dataset:
    """6,435 places of 6 kinds of soil, 9 pixels in 4 bands each."""
    return fetch_table(
        "satimage",
        shape=(6_435, 36),
        owner=owner,
        licence=licence,
        carried=keel("satimage"),
    )
