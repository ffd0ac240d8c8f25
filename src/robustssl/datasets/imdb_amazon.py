"""Film reviews (IMDB, Maas et al., 2011) and product reviews (Amazon, Hutto and Gilbert, 2014)."""

import io
import tarfile

import pandas as pd

from robustssl.data import Dataset
from robustssl.datasets._first import first_rows
from robustssl.datasets._reviews import CARRIER, film_reviews
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.packages import Carrier
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"
owner = "A. Maas et al.; C. J. Hutto and E. Gilbert"
licence = "MIT (Amazon part)"

_AMAZON = Carrier(
    "sdist",
    "vaderSentiment==3.3.2",
    size=2_466_783,
    sha256="5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9",
)


def _carried() -> Arrays:
    """A product review is good or bad by the sign of the score that people gave it."""
    films = film_reviews().query("source == 'imdb'").assign(domain="imdb")
    inner = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
    (archive,) = _AMAZON.members(inner)
    with tarfile.open(fileobj=archive) as opened:
        file = opened.extractfile("hutto_ICWSM_2014/amazonReviewSnippets_GroundTruth.txt")
        assert file is not None
        lines = io.TextIOWrapper(file, "latin1").read().splitlines()
    rows = [line.split("\t", 2) for line in lines if line.count("\t") >= 2]
    shop = pd.DataFrame(rows, columns=["id", "score", "text"])
    shop["score"] = shop.score.astype(float)
    shop = shop[shop.score != 0]
    shop = shop.assign(label=(shop.score > 0).astype(int), domain="amazon")
    frame = pd.concat([films, shop], ignore_index=True)
    return texts(frame.text.tolist(), frame.label.map({0: "bad", 1: "good"}), frame.domain)


def load(encoder: str = "tfidf", rows: int | None = None) -> Dataset:
    """About 28,700 reviews, good or bad, of films and of products; domains imdb, amazon.

    encoder: what makes vectors of the texts. rows: the first so many, equally many of each class in
    each domain.
    """
    source = Source(f"the packages {CARRIER.package} and {_AMAZON.package}", _carried)
    data = fetch_texts("imdb_amazon", source, owner=owner, licence=licence, encoder=encoder)
    return data if rows is None else first_rows(data, rows)
