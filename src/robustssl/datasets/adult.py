"""Adult, or census income (B. Becker and R. Kohavi, 1996)."""

from typing import Literal

from robustssl.data import Dataset
from robustssl.datasets._carried import aif360_adult
from robustssl.datasets._domains import by_indicators
from robustssl.downloads.sources import fetch_table
from robustssl.spec import check_options

version = 1
owner = "B. Becker and R. Kohavi"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"

EMPLOYMENT = {
    "?": "",
    "Federal-gov": "government",
    "Local-gov": "government",
    "Never-worked": "",
    "Private": "private",
    "Self-emp-inc": "self_employed",
    "Self-emp-not-inc": "self_employed",
    "State-gov": "government",
    "Without-pay": "",
}


def load(domain: Literal["employment"] | None = None) -> Dataset:
    """48,842 people, income over 50,000 dollars or not, 14 facts each, words as indicators; with
    domain=employment, those who are private, government or self_employed.
    """
    check_options(load, {"domain": domain})
    data = fetch_table(
        "adult",
        shape=(48_842, 108),
        sha256="a22e2840b4788c53a9e384b255aa9497a896e54aa416b7417ce464be96a9386a",
        owner=owner,
        licence=licence,
        openml=1590,
        carried=aif360_adult(),
    )
    return data if domain is None else by_indicators(data, 6, [*EMPLOYMENT.values()])
