"""Weather at Bellevue, Nebraska, 1949 to 1999 (NOAA; R. Elwell and R. Polikar, 2011)."""

from typing import Literal

from robustssl.data import Dataset
from robustssl.datasets._carried import multiflow
from robustssl.datasets._domains import in_time
from robustssl.downloads.sources import fetch_table
from robustssl.spec import check_options

version = 1
owner = "National Oceanic and Atmospheric Administration; R. Elwell and R. Polikar"
licence = "public domain (United States government)"


def load(domain: Literal["time"] | None = None) -> Dataset:
    """18,159 days in their order in time, rain or not, 8 measurements each; with domain=time, the
    first third (early) and the last (late).
    """
    check_options(load, {"domain": domain})
    data = fetch_table(
        "weather",
        shape=(18_159, 8),
        owner=owner,
        licence=licence,
        carried=multiflow("weather"),
    )
    return data if domain is None else in_time(data)
