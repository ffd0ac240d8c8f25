"""Deal the rows of a dataset: class by class into parts, and the parts into one order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from robustssl.data import Dataset, Rows
from robustssl.errors import InputError


@dataclass(frozen=True)
class Parts:
    """Rows by class."""

    labeled: dict[int, Rows]
    test: dict[int, Rows]
    consistent: dict[int, Rows]
    inconsistent: dict[int, Rows]
    aside: dict[int, Rows]

    def paired(self, data: Dataset) -> "Parts":
        """As many consistent as inconsistent rows of each class."""
        for code in self.consistent.keys() ^ self.inconsistent.keys():
            lacking = "inconsistent" if code in self.consistent else "consistent"
            raise InputError(
                f"the {lacking} rows of {data.name} have none of class {data.class_name(code)}, "
                "but each row is replaced by one of its own class; an environment where it is not "
                "says `paired = False`"
            )
        mine, theirs = self.consistent, self.inconsistent
        sizes = {code: min(len(mine[code]), len(theirs[code])) for code in mine}
        return replace(
            self, consistent=first_rows(mine, sizes), inconsistent=first_rows(theirs, sizes)
        )


def first_rows(parts: Mapping[int, Rows], sizes: Mapping[int, int]) -> dict[int, Rows]:
    """The first rows of each class."""
    return {code: rows[: sizes[code]] for code, rows in parts.items()}


def deal(data: Dataset, rows: Rows, labels: int) -> tuple[Rows, Rows, Rows]:
    """The consistent rows of one class: half for testing, then the labeled ones, then the pool. So
    test rows do not depend on the number of labels, and few labeled rows are among many.
    """
    test, labeled = rows[: len(rows) // 2], rows[len(rows) // 2 :][:labels]
    if len(rows) - len(rows) // 2 <= labels:
        raise InputError(
            f"{labels} labels per class are too many for {data.name}: class "
            f"{data.class_name(data.y[rows[0]])} has {len(rows)} consistent rows, of which half "
            f"are test rows, and {2 * labels + 1} are needed to leave one unlabeled row"
        )
    return test, labeled, rows[len(test) + labels :]


def set_aside(rows: Rows) -> tuple[Rows, Rows]:
    """A fifth of the inconsistent rows, kept to measure detection and the accuracy on them, and the
    others.
    """
    fifth = len(rows) // 5
    return rows[:fifth], rows[fifth:]


def halves(data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Half of the rows of each class, drawn, and the others."""
    order = rng.permutation(len(data.y))
    order = order[np.argsort(data.y[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def blend(parts: Mapping[int, Rows], seed: int) -> Rows:
    """The parts merged into one sequence whose every stretch holds about the same share of each.

    The place of a row depends only on the seed and the sizes: parts of equal sizes are merged
    alike.
    """
    rng = np.random.default_rng(seed)
    every = [np.empty(0, np.intp), *parts.values()]
    places = [(np.arange(len(rows)) + rng.random(len(rows))) / max(len(rows), 1) for rows in every]
    blended: Rows = np.concatenate(every)[np.argsort(np.concatenate(places), kind="stable")]
    return blended


def by_class(data: Dataset, rows: Rows) -> dict[int, Rows]:
    return {int(code): rows[data.y[rows] == code] for code in np.unique(data.y[rows])}
