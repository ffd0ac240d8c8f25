"""Between split and fit: the one preprocessing."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

Matrix = npt.NDArray[np.float64]


def fit_preprocessing(X: Matrix) -> Callable[[Matrix], Matrix]:
    """Standardise by the rows given: the labeled and the unlabeled ones of t = 0, so that it
    cannot see t.
    """
    transform: Callable[[Matrix], Matrix] = StandardScaler().fit(X).transform
    return transform
