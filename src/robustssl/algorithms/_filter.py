"""Which unlabeled rows to drop because they look inconsistent with the labeled ones.

Each rule scores rows; the threshold is the score below which 95% of the labeled rows lie (the usual
one of out-of-distribution detection: Liu et al., 2020; Sun et al., 2022). A labeled row is scored
by what was fitted without it, since otherwise it would look more consistent than a new row.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustssl.algorithms._folds import FOLDS, held_out, without_a_fold
from robustssl.classifier import Codes, Matrix

By = Literal["energy", "knn", "adversarial"]
Mask = npt.NDArray[np.bool_]
Scores = tuple[Matrix, Matrix]  # of labeled rows and of unlabeled ones; higher: less consistent

ACCEPTED = 0.95


def kept(codes: Codes, scores: Scores) -> Mask:
    """Of all rows, the labeled ones and the unlabeled ones that are not dropped."""
    labeled, unlabeled = scores
    keep = codes >= 0
    keep[codes < 0] = unlabeled <= np.quantile(labeled, ACCEPTED)
    return keep


def distance_scores(by: str, rows: Matrix, codes: Codes, seed: Any) -> Scores:
    """By the rows alone, whatever their form."""
    flat = np.asarray(rows, float).reshape(len(codes), -1)
    return knn(flat, codes) if by == "knn" else adversarial(flat, codes, seed)


def knn(rows: Matrix, codes: Codes) -> Scores:
    """The distance to the nearest labeled row (Sun et al., 2022, whose k is .1% of the rows: here
    always 1).
    """
    labeled = rows[codes >= 0]
    index = NearestNeighbors(n_neighbors=2).fit(labeled)
    return index.kneighbors(labeled)[0][:, 1], index.kneighbors(rows[codes < 0], 1)[0][:, 0]


def adversarial(rows: Matrix, codes: Codes, seed: Any) -> Scores:
    """The probability of being unlabeled, by a classifier that tells labeled from unlabeled rows
    and was fitted without the row; 0 for all if one row is all that is unlabeled.
    """
    unlabeled = codes < 0
    count = min(FOLDS, int(min(unlabeled.sum(), (~unlabeled).sum())))
    if count < 2:
        return np.zeros((~unlabeled).sum()), np.zeros(unlabeled.sum())
    learner = make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000)
    )
    folds = StratifiedKFold(count, shuffle=True, random_state=seed)
    p = cross_val_predict(learner, rows, unlabeled, cv=folds, method="predict_proba")[:, 1]
    return p[~unlabeled], p[unlabeled]


def energy(codes: Codes, parts: Sequence[Codes], energies: Sequence[Matrix]) -> Scores:
    """-log sum exp of the logits (Liu et al., 2020), given of all rows by each of the learners that
    were fitted without a fold.
    """
    found = held_out(codes, parts, energies)
    return found[codes >= 0], found[codes < 0]


def logistic_energy(rows: Matrix, codes: Codes) -> Scores:
    """The energy of logistic regressions."""
    parts = without_a_fold(codes)
    return energy(codes, parts, [_logistic(rows, part) for part in parts])


def _logistic(rows: Matrix, codes: Codes) -> Matrix:
    known = codes >= 0
    if len(np.unique(codes[known])) < 2:
        return np.zeros(len(rows))
    logits = (
        LogisticRegression(max_iter=1000).fit(rows[known], codes[known]).decision_function(rows)
    )
    if logits.ndim == 1:
        logits = np.stack([-logits, logits], 1) / 2
    return np.asarray(-logsumexp(logits, axis=1))
