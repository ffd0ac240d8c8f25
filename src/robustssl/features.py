"""Between split and fit: the one preprocessing. Fitted on rows of t = 0, it cannot see t."""

from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from robustssl.data import Dataset
from robustssl.language import encode

Matrix = npt.NDArray[Any]


def fit_preprocessing(data: Dataset, X: Matrix) -> Callable[[Matrix], npt.NDArray[np.float64]]:
    """Rows as numbers, standardised by the rows given: tables feature by feature, images pixel by
    pixel, texts on one scale, as the leading components of their TF-IDF or by the encoder that the
    dataset names.
    """
    encoder = data.meta.get("encoder", "tfidf")
    if data.kind == "text" and encoder != "tfidf":
        model = make_pipeline(
            FunctionTransformer(encode, kw_args={"encoder": encoder}), _OneScale()
        )
        model.fit(X)
    else:
        model = {"tabular": _tabular, "image": _image, "text": _text}[data.kind](X).fit(X)
    return cast(Callable[[Matrix], npt.NDArray[np.float64]], model.transform)


def _tabular(X: Matrix) -> Pipeline:
    return make_pipeline(StandardScaler())


def _image(X: Matrix) -> Pipeline:
    return make_pipeline(FunctionTransformer(_flat), StandardScaler())


def _flat(X: Matrix) -> Matrix:
    return X.reshape(len(X), -1).astype(float)


def _text(X: Matrix) -> Pipeline:
    words = TfidfVectorizer(sublinear_tf=True)
    components = min(128, len(words.fit(X).vocabulary_) - 1, len(X) - 1)
    return make_pipeline(words, TruncatedSVD(components, random_state=0), _OneScale())


class _OneScale(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Centred, and divided by one number: the leading components keep their weight."""

    def fit(self, X: Matrix, y: None = None) -> Self:
        self.mean_ = X.mean(0)
        self.scale_ = (X - self.mean_).std() or 1.0
        return self

    def transform(self, X: Matrix) -> Matrix:
        return np.asarray((X - self.mean_) / self.scale_)
