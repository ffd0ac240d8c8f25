"""A part of a large dataset."""

from dataclasses import replace

import numpy as np

from robustssl.data import Dataset
from robustssl.errors import InputError


def first_rows(data: Dataset, count: int) -> Dataset:
    """The first rows of a dataset, equally many of each class."""
    classes, sizes = np.unique(data.y, return_counts=True)
    each, rest = divmod(count, len(classes))
    if rest or not 0 < each <= sizes.min():
        raise InputError(
            f"rows must be a multiple of the {len(classes)} classes of {data.name}, and at most "
            f"{sizes.min() * len(classes)}, got {count}"
        )
    rows = np.sort(np.concatenate([np.flatnonzero(data.y == k)[:each] for k in classes]))
    domain = None if data.domain is None else data.domain[rows]
    return replace(data, X=data.X[rows], y=data.y[rows], domain=domain)
