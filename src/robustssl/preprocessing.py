"""The one preprocessing between split and fit. It is fitted on rows of t = 0 and cannot see t."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from robustssl import registry
from robustssl.data import ENCODERS, Kind

Matrix = npt.NDArray[Any]


def preprocessing(X: Matrix, kind: Kind, encoder: str = "") -> Pipeline:
    """Rows as numbers, fitted on the rows given. Each feature of a table has its own scale; images
    and texts are encoded, and all features of theirs share one scale.
    """
    if kind == "tabular":
        return make_pipeline(StandardScaler()).fit(X)
    encoded = registry.encoder(encoder or ENCODERS[kind]).features(X)
    return make_pipeline(encoded, OneScale()).fit(X)


class OneScale(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Centre the features and divide all by one number, so that leading components keep weight."""

    def fit(self, X: Matrix, y: None = None) -> Self:
        self.mean_ = X.mean(0)
        self.scale_ = (X - self.mean_).std() or 1.0
        return self

    def transform(self, X: Matrix) -> Matrix:
        return np.asarray((X - self.mean_) / self.scale_)
