"""Wine (M. Forina et al.), as bundled with scikit-learn."""

from robustssl.data import Dataset
from robustssl.datasets._sklearn import bundled

version = 1
owner = "M. Forina et al."
licence = "CC BY 4.0 (UCI Machine Learning Repository)"


def load() -> Dataset:
    """178 wines of 3 cultivars, 13 chemical measurements each."""
    return bundled("wine", owner, licence)
