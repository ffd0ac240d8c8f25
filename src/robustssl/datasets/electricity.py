"""Electricity prices of New South Wales (M. Harries, 1999)."""

from typing import Literal

from robustssl.data import Dataset
from robustssl.datasets._carried import multiflow
from robustssl.datasets._domains import in_time
from robustssl.downloads.sources import fetch_table
from robustssl.spec import check_options

version = 1
owner = "M. Harries"
licence = "public (OpenML)"


def load(domain: Literal["time"] | None = None) -> Dataset:
    """45,312 half hours in their order in time, price up or down, 6 measurements each; with
    domain=time, the first third (early) and the last (late).
    """
    check_options(load, {"domain": domain})
    data = fetch_table(
        "electricity",
        shape=(45_312, 6),
        sha256="b103e044bccb473d05e0a36b25fd51dba4dee55903763a740a9c559d0dc74802",
        owner=owner,
        licence=licence,
        openml=151,
        carried=multiflow("elec"),
    )
    return data if domain is None else in_time(data)
