"""Twenty newsgroups (K. Lang, 1995), prepared by A. Cardoso-Cachopo."""

from robustssl.data import Dataset
from robustssl.datasets._first import first_rows
from robustssl.datasets._orange import CARRIER, orange
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"
owner = "K. Lang"
licence = "not stated"


def _carried() -> Arrays:
    frame = orange("20newsgroups-train", "20newsgroups-test").dropna()
    return texts(frame.Text.tolist(), frame.Category)


def load(encoder: str = "tfidf", rows: int | None = None) -> Dataset:
    """18,821 messages of 20 newsgroups.

    encoder: what makes vectors of the texts. rows: the first so many, equally many of each class.
    """
    source = Source(f"the package {CARRIER.package}", _carried)
    data = fetch_texts("newsgroups", source, encoder=encoder, owner=owner, licence=licence)
    return data if rows is None else first_rows(data, rows)
