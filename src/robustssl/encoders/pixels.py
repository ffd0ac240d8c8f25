"""Images as the leading components of their pixels."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from robustssl.encoders import Encoder, Rows

_COMPONENTS = 128  # at most
_MANY = 5_000  # images; with more, a full decomposition takes too long


@dataclass(frozen=True, kw_only=True)
class Pixels(Encoder):
    """No encoder: nets get the images as they are, other methods their 128 leading components."""

    kind: ClassVar[Literal["image", "text"]] = "image"

    def features(self, rows: Rows) -> Pipeline:
        components = min(_COMPONENTS, len(rows), rows[0].size)
        solver = "full" if len(rows) <= _MANY else "covariance_eigh"
        return make_pipeline(FunctionTransformer(_flat), PCA(components, svd_solver=solver))

    def vectors(self, rows: Rows) -> Rows:
        return rows.reshape(len(rows), -1)


def _flat(images: Rows) -> Rows:  # saved models hold this name
    return images.reshape(len(images), -1).astype(float)
