"""Texts as the leading components of their TF-IDF."""

from typing import Any

import numpy.typing as npt
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline

from robustssl.errors import InputError


def encoder(texts: npt.NDArray[Any], components: int) -> Pipeline:
    """An encoder, to be fitted on the texts given, with at most `components` features."""
    words = TfidfVectorizer(sublinear_tf=True)
    try:
        components = min(components, len(words.fit(texts).vocabulary_) - 1, len(texts) - 1)
    except ValueError as error:
        raise InputError(f"TF-IDF finds no words in the texts: {error}") from error
    if components < 1:
        raise InputError("TF-IDF needs at least two texts and two different words")
    return make_pipeline(words, TruncatedSVD(components, random_state=0))
