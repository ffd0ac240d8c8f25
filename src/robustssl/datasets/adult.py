"""Adult, or census income (B. Becker and R. Kohavi, 1996)."""

from robustssl.data import Dataset
from robustssl.datasets._carried import aif360_adult
from robustssl.downloads.sources import fetch_table

version = 1


def load() -> Dataset:
    """48,842 people, income over 50,000 dollars or not, 14 facts each, words as indicators."""
    return fetch_table(
        "adult",
        shape=(48_842, 108),
        sha256="a22e2840b4788c53a9e384b255aa9497a896e54aa416b7417ce464be96a9386a",
        owner="B. Becker and R. Kohavi",
        licence="CC BY 4.0 (UCI Machine Learning Repository)",
        openml=1590,
        carried=aif360_adult(),
    )
