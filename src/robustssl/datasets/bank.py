"""Bank marketing by telephone (S. Moro, P. Cortez and P. Rita, 2014)."""

from typing import Literal

from robustssl.data import Dataset
from robustssl.datasets._carried import aif360_bank
from robustssl.datasets._domains import by_indicators, in_time
from robustssl.downloads.sources import fetch_table
from robustssl.spec import check_options

version = 1
owner = "S. Moro, P. Cortez and P. Rita"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load(domain: Literal["contact", "time"] | None = None) -> Dataset:
    """41,188 calls in their order in time, deposit sold or not, 19 facts each, words as indicators;
    with domain=contact, calls to a telephone or a cellular; with domain=time, the first third
    (early) and the last (late).
    """
    check_options(load, {"domain": domain})
    data = fetch_table(
        "bank",
        shape=(41_188, 62),
        owner=owner,
        licence=licence,
        carried=aif360_bank(),
    )
    if domain == "contact":
        return by_indicators(data, 42, ("cellular", "telephone"))
    return data if domain is None else in_time(data)
