"""Domains of a table: parts of its rows, by their order in time or by a column."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.data import Dataset


def in_time(data: Dataset) -> Dataset:
    """The first third of the rows, early, and the last third, late.

    The third between them is left out, since rows on both sides of one moment are alike.
    """
    third, domain = len(data.y) // 3, np.full(len(data.y), "", object)
    domain[:third], domain[-third:] = "early", "late"
    return _with(data, domain, np.arange(data.X.shape[1]))


def by_indicators(data: Dataset, first: int, names: Sequence[str]) -> Dataset:
    """A domain for each value of a column that X holds as indicators, which leave X.

    They stand side by side from the place `first`, and `names` has the domain of each. Rows whose
    value has none (an empty name) are left out.
    """
    indicators = np.arange(first, first + len(names))
    domain = np.array(names, object)[np.asarray(data.X[:, indicators]).argmax(1)]
    return _with(data, domain, np.setdiff1d(np.arange(data.X.shape[1]), indicators))


def _with(data: Dataset, domain: npt.NDArray[Any], columns: npt.NDArray[np.intp]) -> Dataset:
    """The columns, of the rows that have a domain."""
    rows = np.flatnonzero(domain != "")
    return replace(data, X=data.X[np.ix_(rows, columns)], y=data.y[rows], domain=domain[rows])
