"""Methods for class shares that differ between labeled and unlabeled rows: ACR and CPG."""

import numpy as np
import pytest
import torch
from test_deep import is_a_plain_loop, rows

from robustssl.data import UNLABELED

RATIO = 10


@pytest.fixture(autouse=True)
def _one_thread_of_the_processor():
    torch.set_num_threads(1)


def with_a_tail(seed, unlabeled):
    """Three clusters with 5, 3 and 1 labels, not in this order."""
    X, y = rows(seed, unlabeled)
    y[np.flatnonzero(y == 0)[3:]] = UNLABELED
    y[np.flatnonzero(y == 2)[1:]] = UNLABELED
    return X, y


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("acr", {"threshold": 0.6, "start": 0.2, "learning_rate": 0.1, "steps": 25}),
        ("acr", {"threshold": 0.5, "start": 0.0, "epochs": 4, "memory": 0.5, "steps": 25}),
        ("cpg", {"start": 0.2, "ratio": 1, "learning_rate": 0.2, "steps": 25}),
        (
            "cpg",
            {"start": 0.1, "period": 0.1, "votes": 2, "ratio": 2, "threshold": 0.5, "steps": 40},
        ),
    ],
)
def test_they_are_plain_loops_where_labels_have_a_tail(name, more, optimizer):
    is_a_plain_loop(name, more, optimizer, *with_a_tail(7, 20))
