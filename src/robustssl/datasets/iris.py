"""Iris (R. A. Fisher), as bundled with scikit-learn."""

from robustssl.data import Dataset
from robustssl.datasets._sklearn import bundled

version = 1
owner = "R. A. Fisher"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load() -> Dataset:
    """150 flowers of 3 species, 4 measurements each."""
    return bundled("iris", owner, licence)
