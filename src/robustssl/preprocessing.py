"""The one preprocessing between split and fit. It is fitted on rows of t = 0 and cannot see t."""

from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from robustssl.data import Kind
from robustssl.encoders import minilm, pixels, tfidf

Matrix = npt.NDArray[Any]

COMPONENTS = 128  # of images and texts, at most


def fit_preprocessing(
    X: Matrix, kind: Kind, encoder: str = "tfidf"
) -> Callable[[Matrix], npt.NDArray[np.float64]]:
    """A function that turns rows into numbers, fitted on the rows given."""
    return cast(
        Callable[[Matrix], npt.NDArray[np.float64]], preprocessing(X, kind, encoder).transform
    )


def preprocessing(X: Matrix, kind: Kind, encoder: str = "tfidf") -> Pipeline:
    """Rows as numbers, fitted on the rows given. Each feature of a table has its own scale; images
    and texts are encoded, and all features of theirs share one scale.
    """
    if kind == "tabular":
        return make_pipeline(StandardScaler()).fit(X)
    if kind == "image":
        encoded = pixels.encoder(X, COMPONENTS)
    elif encoder == "tfidf":
        encoded = tfidf.encoder(X, COMPONENTS)
    else:
        encoded = FunctionTransformer(minilm.encode, kw_args={"encoder": encoder})
    return make_pipeline(encoded, OneScale()).fit(X)


class OneScale(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Centre the features and divide all by one number, so that leading components keep weight."""

    def fit(self, X: Matrix, y: None = None) -> Self:
        self.mean_ = X.mean(0)
        self.scale_ = (X - self.mean_).std() or 1.0
        return self

    def transform(self, X: Matrix) -> Matrix:
        return np.asarray((X - self.mean_) / self.scale_)
