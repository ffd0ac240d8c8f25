"""Breast Cancer Wisconsin (Diagnostic) (W. Wolberg, N. Street and O. Mangasarian), as bundled with
scikit-learn.
"""

from robustssl.data import Dataset
from robustssl.datasets._sklearn import bundled

version = 1
owner = "W. Wolberg, N. Street and O. Mangasarian"
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load() -> Dataset:
    """569 tumours, malignant or benign, 30 measurements of their cell nuclei each."""
    return bundled("breast_cancer", owner, licence)
