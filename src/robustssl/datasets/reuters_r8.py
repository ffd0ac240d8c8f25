"""Reuters-21578, the 8 most frequent topics (D. D. Lewis, 1997), prepared by A. Cardoso-Cachopo."""

from robustssl.data import Dataset
from robustssl.datasets._orange import CARRIER, orange
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"
owner = "Reuters; D. D. Lewis"
licence = "research use only"


def _carried() -> Arrays:
    frame = orange("reuters-r8-train", "reuters-r8-test").dropna()
    return texts(frame.Text.tolist(), frame.Category)


def load(encoder: str = "tfidf") -> Dataset:
    """7,674 news of an agency on 8 topics of very different frequency."""
    source = Source(f"the package {CARRIER.package}", _carried)
    return fetch_texts("reuters_r8", source, owner=owner, licence=licence, encoder=encoder)
