"""AG News (X. Zhang, J. Zhao and Y. LeCun, 2015, arXiv:1509.01626)."""

import pandas as pd

from robustssl.data import Dataset
from robustssl.downloads.cache import Arrays, Source, cache
from robustssl.downloads.sources import fetch_texts, texts

version = 1
kind = "text"
owner = "X. Zhang et al."
licence = "not stated"

_CLASSES = {1: "world", 2: "sports", 3: "business", 4: "science"}


def _frame(train: str, test: str) -> Arrays:
    names = ["label", "title", "description"]
    parts = [pd.read_csv(file, header=None, names=names) for file in (train, test)]
    frame = pd.concat(parts, ignore_index=True)
    words = (frame.title + ". " + frame.description).tolist()
    return texts(words, frame.label.map(_CLASSES))


def _local() -> Arrays:
    folder = cache() / "ag_news_csv"
    return _frame(str(folder / "train.csv"), str(folder / "test.csv"))


def _hub() -> Arrays:
    from huggingface_hub import hf_hub_download

    names = [f"data/{part}-00000-of-00001.parquet" for part in ("train", "test")]
    files = [hf_hub_download("fancyzhx/ag_news", name, repo_type="dataset") for name in names]
    frame = pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)
    return texts(frame.text.tolist(), (frame.label + 1).map(_CLASSES))


def load(encoder: str = "tfidf") -> Dataset:
    """127,600 news items on 4 topics."""
    sources = [
        Source(f"{cache() / 'ag_news_csv'}, with train.csv and test.csv", _local),
        Source("the Hugging Face hub, fancyzhx/ag_news (needs robustssl[hub])", _hub),
    ]
    return fetch_texts("agnews", *sources, owner=owner, licence=licence, encoder=encoder)
