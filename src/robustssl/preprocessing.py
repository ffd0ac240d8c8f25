"""Between split and fit: the one preprocessing. Fitted on rows of t = 0, it cannot see t."""

from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from robustssl.data import Kind
from robustssl.errors import InputError

Matrix = npt.NDArray[Any]

COMPONENTS = 128  # of images and texts, at most
MANY = 5_000  # rows, of which a decomposition takes too long


def fit_preprocessing(
    X: Matrix, kind: Kind, encoder: str = "tfidf"
) -> Callable[[Matrix], npt.NDArray[np.float64]]:
    """What turns rows into numbers, fitted on the rows given."""
    return cast(
        Callable[[Matrix], npt.NDArray[np.float64]], preprocessing(X, kind, encoder).transform
    )


def preprocessing(X: Matrix, kind: Kind, encoder: str = "tfidf") -> Pipeline:
    """Rows as numbers, standardised by the rows given: tables feature by feature; images and texts
    on one scale, as the leading components of their pixels or their TF-IDF, or by an encoder.
    """
    if kind == "tabular":
        steps: list[Any] = [StandardScaler()]
    elif kind == "image":
        pixels = FunctionTransformer(_flat)
        components = min(COMPONENTS, len(X), X[0].size)
        solver = "full" if len(X) <= MANY else "covariance_eigh"
        steps = [pixels, PCA(components, svd_solver=solver), OneScale()]
    elif encoder == "tfidf":
        steps = [*_word_components(X), OneScale()]
    else:
        from robustssl.encoders.minilm import encode

        steps = [FunctionTransformer(encode, kw_args={"encoder": encoder}), OneScale()]
    return make_pipeline(*steps).fit(X)


def _flat(X: Matrix) -> Matrix:
    return X.reshape(len(X), -1).astype(float)


def _word_components(X: Matrix) -> tuple[TfidfVectorizer, TruncatedSVD]:
    words = TfidfVectorizer(sublinear_tf=True)
    try:
        components = min(COMPONENTS, len(words.fit(X).vocabulary_) - 1, len(X) - 1)
    except ValueError as error:
        raise InputError(f"the texts cannot be told apart by their words: {error}") from error
    if components < 1:
        raise InputError("the texts have one word in common, and no other")
    return words, TruncatedSVD(components, random_state=0)


class OneScale(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Centred, and divided by one number: the leading components keep their weight."""

    def fit(self, X: Matrix, y: None = None) -> Self:
        self.mean_ = X.mean(0)
        self.scale_ = (X - self.mean_).std() or 1.0
        return self

    def transform(self, X: Matrix) -> Matrix:
        return np.asarray((X - self.mean_) / self.scale_)
