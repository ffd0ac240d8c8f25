"""Forest cover type (J. A. Blackard and D. J. Dean, 1999)."""

from robustssl.data import Dataset
from robustssl.datasets._carried import multiflow
from robustssl.downloads.sources import fetch_table

version = 1


def load() -> Dataset:
    """581,012 patches of forest of 7 cover types, 54 measurements each."""
    return fetch_table(
        "covertype",
        shape=(581_012, 54),
        sha256="e3e1d9f64f73e207d9743dab536af2bf11b4cb3a1d1673293b8a246dc93531bc",
        owner="J. A. Blackard and D. J. Dean",
        licence="CC BY 4.0 (UCI Machine Learning Repository)",
        openml=1596,
        carried=multiflow("covtype"),
    )
