"""The class shares differ: some classes are more common among the unlabeled rows."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from robustssl.data import Dataset, Rows
from robustssl.environments import Environment, Parts, first_rows, halves
from robustssl.errors import InputError
from robustssl.spec import Range

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Prior(Environment):
    """t: the share of unlabeled rows that are drawn with other class shares than the labeled rows:
    a long tail, in which the most common class is `ratio` times as common as the rarest. A seed
    draws which classes are common. Test rows are balanced.

    labeled: `even` gives every class the same number of labels. With `tail` the labeled rows have
    the tail, and the inconsistent rows the tail reversed.
    """

    ratio: Annotated[float, Range(least=1)] = 10.0
    labeled: Literal["even", "tail"] = "even"

    paired = False
    score = "balanced_accuracy"

    def divide(self, data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
        return halves(data, rng)

    def parts(self, data: Dataset, labels: int, rng: Any) -> Parts:
        classes = len(np.unique(data.y))
        if classes < 2:
            raise InputError(f"the prior environment needs two classes; {data.name} has one")
        # Drawn from a generator of its own, so that other draws stay those of other environments.
        ranks = rng.spawn(1)[0].permutation(classes)
        tail = self.ratio ** (-ranks / (classes - 1))
        if self.labeled == "tail":
            counts = np.maximum(1, np.round(labels * tail).astype(np.intp))
            inconsistent = 1 / tail
        else:
            counts, inconsistent = np.full(classes, labels), tail
        parts = self.dealt(data, counts, rng)
        test = min(len(rows) for rows in parts.test.values())
        if self.test is not None:
            test = min(test, max(1, self.test // classes))
        parts = replace(parts, test=first_rows(parts.test, dict.fromkeys(parts.test, test)))
        return _with_shares(data, parts, counts / counts.sum(), inconsistent / inconsistent.sum())


def _with_shares(data: Dataset, parts: Parts, consistent: Shares, inconsistent: Shares) -> Parts:
    """The most rows that have the shares asked for."""
    pools = [(parts.consistent, consistent), (parts.inconsistent, inconsistent)]
    n = min(_most(rows, shares) for rows, shares in pools)
    for rows, shares in pools:
        for code in (code for code, count in _counts(n, shares).items() if count == 0):
            rare = min(rows, key=lambda k: len(rows[k]) / shares[k])
            raise InputError(
                f"class {data.class_name(rare)} of {data.name} is too rare for its share: its "
                f"{len(rows[rare])} rows should be {shares[rare]:.1%} of the unlabeled ones, which "
                f"leaves no row of class {data.class_name(code)}; a lower ratio asks for less"
            )
    return replace(
        parts,
        consistent=first_rows(parts.consistent, _counts(n, consistent)),
        inconsistent=first_rows(parts.inconsistent, _counts(n, inconsistent)),
        aside=first_rows(parts.aside, _counts(_most(parts.aside, inconsistent), inconsistent)),
    )


def _most(rows: dict[int, Rows], shares: Shares) -> int:
    """How many rows can be taken with these shares of the classes."""
    n = int(min(len(rows[code]) / share for code, share in enumerate(shares))) + len(shares)
    while any(count > len(rows[code]) for code, count in _counts(n, shares).items()):
        n -= 1
    return n


def _counts(n: int, shares: Shares) -> dict[int, int]:
    """n rows divided by the shares; the largest remainders are rounded up."""
    counts = np.floor(n * shares + 1e-9).astype(int)
    short = np.argsort(counts - n * shares, kind="stable")[: n - counts.sum()]
    counts[short] += 1
    return dict(enumerate(counts.tolist()))
