"""The contracts of a dataset."""

from collections.abc import Callable, Iterator

import numpy as np

from robustssl import registry
from robustssl.checks._contracts import require, verdicts
from robustssl.data import Dataset


def is_named_and_owned(data: Dataset) -> None:
    lacking = {"classes", "owner", "licence"} - set(data.meta)
    require(not lacking, f"its meta lacks {', '.join(sorted(lacking))}")
    found = len(np.unique(data.y))
    named = len(data.meta["classes"])
    require(named == found, f"meta names {named} classes, but y has {found}")


def every_class_can_be_learned(data: Dataset) -> None:
    found = len(np.unique(data.y))
    require(found >= 2, f"it has {found} class; a classifier needs at least 2")
    least = int(np.bincount(data.y).min())
    require(
        least >= 3, f"a class has {least} rows; each needs a labeled, a test and an unlabeled row"
    )


DATASET: tuple[Callable[[Dataset], None], ...] = (
    is_named_and_owned,
    every_class_can_be_learned,
)


def check_dataset(spec: str) -> Iterator[tuple[str, str | None]]:
    """The name of every contract and, if it is broken, what is wrong."""
    yield from verdicts(DATASET, registry.dataset(registry.canonical("dataset", spec)))
