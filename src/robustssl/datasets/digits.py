"""Handwritten digits (E. Alpaydin and C. Kaynak), as bundled with scikit-learn."""

from robustssl.data import Dataset
from robustssl.datasets._sklearn import bundled

version = 1


def load() -> Dataset:
    """1,797 handwritten digits of 10 classes, 8 x 8 grey pixels each."""
    return bundled("digits", owner="E. Alpaydin and C. Kaynak")
