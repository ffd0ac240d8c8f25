"""Iris (R. A. Fisher), as bundled with scikit-learn."""

from robustssl.data import Dataset
from robustssl.datasets._sklearn import bundled

version = 1


def load() -> Dataset:
    """150 flowers of 3 species, 4 measurements each."""
    return bundled("iris", owner="R. A. Fisher")
