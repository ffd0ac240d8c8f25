"""Images as the leading components of their pixels."""

from typing import Any

import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

_MANY = 5_000  # images; with more, a full decomposition takes too long


def encoder(images: npt.NDArray[Any], components: int) -> Pipeline:
    """An encoder, to be fitted on the images given, with at most `components` features."""
    components = min(components, len(images), images[0].size)
    solver = "full" if len(images) <= _MANY else "covariance_eigh"
    return make_pipeline(FunctionTransformer(_flat), PCA(components, svd_solver=solver))


def _flat(images: npt.NDArray[Any]) -> npt.NDArray[Any]:  # saved models hold this name
    return images.reshape(len(images), -1).astype(float)
