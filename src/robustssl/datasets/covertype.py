"""Forest cover type (J. A. Blackard and D. J. Dean, 1999)."""

from typing import Literal

from robustssl.data import Dataset
from robustssl.datasets._carried import multiflow
from robustssl.datasets._domains import by_indicators
from robustssl.downloads.sources import fetch_table
from robustssl.spec import check_options

version = 1
owner = "J. A. Blackard and D. J. Dean"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"

AREAS = ("rawah", "neota", "comanche_peak", "cache_la_poudre")


def load(domain: Literal["wilderness"] | None = None) -> Dataset:
    """581,012 patches of forest of 7 cover types, 54 measurements each; with domain=wilderness,
    the areas rawah, neota, comanche_peak and cache_la_poudre.
    """
    check_options(load, {"domain": domain})
    data = fetch_table(
        "covertype",
        shape=(581_012, 54),
        sha256="e3e1d9f64f73e207d9743dab536af2bf11b4cb3a1d1673293b8a246dc93531bc",
        owner=owner,
        licence=licence,
        openml=1596,
        carried=multiflow("covtype"),
    )
    return data if domain is None else by_indicators(data, 10, AREAS)
