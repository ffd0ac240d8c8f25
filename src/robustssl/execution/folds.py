"""Labeled rows that are held out in turn, and what models fitted without them answer."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.cell import Cell
from robustssl.data import UNLABELED, Pools, Split

MOST = 5
LEAST_PROBABILITY = 1e-6  # of a class, in the logarithm: a method that is sure may be wrong

Mask = npt.NDArray[np.bool_]
Probabilities = npt.NDArray[np.float64]


@dataclass(eq=False)
class Fold:
    """A model that is fitted to all rows of a split but the labeled ones that are `held` out, which
    are left out: they are not among the unlabeled rows either.
    """

    model: Any
    split: Split
    held: Mask
    error: BaseException | None = None

    @property
    def problem(self) -> tuple[Any, npt.NDArray[np.intp]]:
        return self.split.X[~self.held], self.split.y[~self.held]

    def fail(self, error: BaseException) -> None:
        self.error = error

    def answers(self) -> tuple[Mask, Probabilities | None]:
        """Which of the rows held out are right, and the probability of the class of each, 0 if the
        model does not know the class; None if it has no probabilities.
        """
        X, y = np.asarray(self.split.X[self.held]), self.split.y[self.held]
        right = np.asarray(self.model.predict(X)) == y
        if not hasattr(self.model, "predict_proba"):
            return right, None
        p = np.asarray(self.model.predict_proba(X), float)
        return right, (p * (self.model.classes_ == y[:, None])).sum(1)


def held_out(cell: Cell, split: Split, pools: Pools) -> list[Mask]:
    """For each fold, which rows of a split are held out: min(5, labels of a class) stratified folds
    of the labeled rows, none if there is one label a class.

    They are drawn by the dataset and the seed alone: all t and all methods have the same. Where
    classes have different numbers of labels, the largest number counts, and a class with fewer
    labels than there are folds is not in every fold. A class with one label is never held out,
    since no method could name it then: the scores do not tell of it. The rows to which a ceiling
    (`access=labels`) adds labels are not held out either.
    """
    rows = np.flatnonzero(np.isin(split.rows, pools.labeled) & (split.y != UNLABELED))
    named = replace(cell, dataset=pools.data.name)
    chance = named.rng("dataset", "seed").spawn(2)[1]  # `pools` draws from it and its first child
    rows = chance.permutation(rows)
    rows = rows[np.argsort(split.y[rows], kind="stable")]
    _, classes, counts = np.unique(split.y[rows], return_inverse=True, return_counts=True)
    count = min(MOST, int(counts.max(initial=0)))
    rows = rows[counts[classes] > 1]
    place = np.full(len(split.y), -1)
    place[rows] = np.arange(len(rows)) % max(count, 1)
    return [place == fold for fold in range(count)] if count > 1 else []


def cv_scores(folds: list[Fold]) -> dict[str, float]:
    """The accuracy of the rows held out, and the mean of -log p of their classes where the method
    has probabilities; none if there are no folds, or one of them failed.
    """
    if not folds or any(fold.error is not None for fold in folds):
        return {}
    right, p = zip(*(fold.answers() for fold in folds), strict=True)
    scores = {"cv_accuracy": float(np.concatenate(right).mean())}
    if all(part is not None for part in p):
        known = np.concatenate(p).clip(LEAST_PROBABILITY, 1)
        scores["cv_log_loss"] = float(-np.log(known).mean())
    return scores
