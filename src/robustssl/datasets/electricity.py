"""Electricity prices of New South Wales (M. Harries, 1999)."""

from robustssl.data import Dataset
from robustssl.datasets._carried import multiflow
from robustssl.downloads.sources import fetch_table

version = 1


def load() -> Dataset:
    """45,312 half hours in their order in time, price up or down, 6 measurements each."""
    return fetch_table(
        "electricity",
        shape=(45_312, 6),
        sha256="b103e044bccb473d05e0a36b25fd51dba4dee55903763a740a9c559d0dc74802",
        owner="M. Harries",
        licence="public (OpenML)",
        openml=151,
        carried=multiflow("elec"),
    )
