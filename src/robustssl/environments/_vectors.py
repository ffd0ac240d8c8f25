"""Rows as standardised vectors, to measure distances and directions on."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from robustssl import registry
from robustssl.data import Dataset

Matrix = npt.NDArray[Any]


@lru_cache(maxsize=2)
def standardised(data: Dataset) -> Matrix:
    """The rows of a table, or the vectors of images and texts that were not changed, each feature
    with mean 0 and variance 1. Components of TF-IDF keep their variances, which rank them.
    """
    if data.kind == "tabular":
        return np.asarray(StandardScaler().fit_transform(data.X))
    encoder = "tfidf" if data.encoder == "none" else data.encoder
    vectors = np.asarray(registry.encoder(encoder).vectors(data.X), np.float32)
    return np.asarray(StandardScaler(with_std=encoder != "tfidf").fit_transform(vectors))


@lru_cache(maxsize=2)
def first_component(data: Dataset) -> Matrix:
    """Each row's score on the first principal component, whose largest loading is positive."""
    vectors = standardised(data)
    if vectors.shape[1] == 1:
        return vectors[:, 0]
    fitted = PCA(1, svd_solver="arpack", random_state=0).fit(vectors)
    loadings = fitted.components_[0]
    return np.asarray(vectors @ loadings * np.sign(loadings[np.abs(loadings).argmax()]))
