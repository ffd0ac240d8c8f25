"""Wine (M. Forina et al.), as bundled with scikit-learn."""

from robustssl.data import Dataset
from robustssl.datasets._sklearn import bundled

version = 1


def load() -> Dataset:
    """178 wines of 3 cultivars, 13 chemical measurements each."""
    return bundled("wine", owner="M. Forina et al.")
