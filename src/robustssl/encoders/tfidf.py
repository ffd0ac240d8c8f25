"""Texts as the leading components of their TF-IDF."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline

from robustssl.encoders import Encoder, Rows
from robustssl.errors import InputError

_COMPONENTS = 128  # at most


@dataclass(frozen=True, kw_only=True)
class TfIdf(Encoder):
    """The 128 leading components of TF-IDF; a view has one word replaced by a synonym, or five."""

    kind: ClassVar[Literal["image", "text"]] = "text"

    def features(self, rows: Rows) -> Pipeline:
        words = TfidfVectorizer(sublinear_tf=True)
        try:
            known = len(words.fit(rows).vocabulary_)
        except ValueError as error:
            raise InputError(f"TF-IDF finds no words in the texts: {error}") from error
        components = min(_COMPONENTS, known - 1, len(rows) - 1)
        if components < 1:
            raise InputError("TF-IDF needs at least two texts and two different words")
        return make_pipeline(words, TruncatedSVD(components, random_state=0))

    def vectors(self, rows: Rows) -> Rows:
        return np.asarray(self.features(rows).fit_transform(rows))
