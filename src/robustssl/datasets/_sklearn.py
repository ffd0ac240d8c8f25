"""The datasets that come inside scikit-learn."""

import numpy as np
import sklearn.datasets

from robustssl.data import Dataset


def bundled(name: str, owner: str, licence: str) -> Dataset:
    data = getattr(sklearn.datasets, f"load_{name}")()
    meta = {
        "classes": [str(c) for c in data.target_names],
        "owner": owner,
        "licence": licence,
    }
    return Dataset(name, data.data.astype(float), data.target.astype(np.intp), meta=meta)
