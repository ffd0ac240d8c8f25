"""A part of a large dataset."""

from dataclasses import replace

import numpy as np

from robustssl.data import Dataset
from robustssl.errors import InputError


def first_rows(data: Dataset, count: int) -> Dataset:
    """The first rows of a dataset, equally many of each class, and of each class in each domain."""
    parts, what = data.y, "classes"
    if data.domain is not None:
        _, domains = np.unique(data.domain, return_inverse=True)
        parts, what = data.y + domains * (data.y.max() + 1), "classes in their domains"
    names, sizes = np.unique(parts, return_counts=True)
    each, rest = divmod(count, len(names))
    if rest or not 0 < each <= sizes.min():
        raise InputError(
            f"rows must be a multiple of the {len(names)} {what} of {data.name}, and at most "
            f"{sizes.min() * len(names)}, got {count}"
        )
    rows = np.sort(np.concatenate([np.flatnonzero(parts == name)[:each] for name in names]))
    domain = None if data.domain is None else data.domain[rows]
    return replace(data, X=data.X[rows], y=data.y[rows], domain=domain)
