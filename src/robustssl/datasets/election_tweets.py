"""Tweets of two candidates in the election of 2016 (B. Hamner, 2016)."""

import csv

import numpy as np

from robustssl.data import Dataset
from robustssl.datasets._orange import CARRIER, orange
from robustssl.downloads.cache import Arrays, Source
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"
owner = "H. Clinton and D. Trump; collected by B. Hamner"
licence = "not stated"


def _carried() -> Arrays:
    """Of each author the first third of the tweets is early, the last third late."""
    frame = orange("election-tweets-2016", quoting=csv.QUOTE_MINIMAL).sort_values("Time")
    place = frame.groupby("Author").cumcount() / frame.groupby("Author").Time.transform("size")
    domain = np.select([place < 1 / 3, place >= 2 / 3], ["early", "late"], "between")
    return texts(frame.Content.tolist(), frame.Author, domain)


def load(encoder: str = "tfidf") -> Dataset:
    """6,444 short messages of H. Clinton or D. Trump; domains early, between, late."""
    source = Source(f"the package {CARRIER.package}", _carried)
    return fetch_texts("election_tweets", source, owner=owner, licence=licence, encoder=encoder)
