"""Answers of learners about rows whose labels they have not seen."""

from collections.abc import Sequence

import numpy as np

from robustssl.classifier import Codes, Matrix

FOLDS = 5


def without_a_fold(codes: Codes) -> list[Codes]:
    """For each fold of the labeled rows (every fifth of a class), the codes without its labels. No
    fold holds all labels if there are two classes.
    """
    folds = np.full(len(codes), -1)
    for place, k in enumerate(np.unique(codes[codes >= 0])):
        rows = np.flatnonzero(codes == k)
        folds[rows] = (np.arange(len(rows)) + place) % FOLDS
    return [np.where(folds == fold, -1, codes) for fold in np.unique(folds[codes >= 0])]


def held_out(codes: Codes, parts: Sequence[Codes], answers: Sequence[Matrix]) -> Matrix:
    """Given what learners answer for all rows, each fitted to one of the parts: for a labeled row
    the answer of the learner that did not see its label, for an unlabeled one their mean.
    """
    found, hidden = np.stack(answers), np.stack([part < 0 for part in parts])
    labeled, answer = np.flatnonzero(codes >= 0), found.mean(0)
    answer[labeled] = found[hidden[:, labeled].argmax(0), labeled]
    return np.asarray(answer)
