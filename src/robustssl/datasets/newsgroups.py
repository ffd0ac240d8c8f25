"""Twenty newsgroups (K. Lang, 1995), prepared by A. Cardoso-Cachopo."""

from robustssl.data import Dataset
from robustssl.datasets._orange import CARRIER, orange
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"


def _carried() -> Arrays:
    frame = orange("20newsgroups-train", "20newsgroups-test").dropna()
    return texts(frame.Text.tolist(), frame.Category)


def load(encoder: str = "tfidf") -> Dataset:
    """18,821 messages of 20 newsgroups."""
    source = Source(f"the package {CARRIER.package}", _carried)
    return fetch_texts("newsgroups", source, owner="K. Lang", licence="not stated", encoder=encoder)
