"""A filter in front of a deep method (energy: Liu et al., 2020, arXiv:2010.03759; nearest
neighbour: Sun et al., 2022, arXiv:2204.06507; classifier of two samples: Lopez-Paz & Oquab, 2017,
arXiv:1610.06545).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from robustssl.algorithms import _filter
from robustssl.algorithms._folds import without_a_fold
from robustssl.algorithms._wrapped import Wrapped
from robustssl.classifier import Codes, Matrix
from robustssl.deep import Net, Tensor
from robustssl.method import Space


@dataclass(eq=False, repr=False, kw_only=True)
class Filtered(Wrapped):
    """Detection apart from learning: unlabeled rows that look inconsistent with the labeled ones
    are dropped, and another method learns from the others. Rows are dropped rather than weighed
    down, since every method can do with fewer rows.

    base: the method, possibly with options, as in uda[threshold=0.7]. Options that both have, such
    as steps, are given to filtered. ratio: null is the ratio of the base. For statistical methods
    there is filtered_statistical.
    by: `energy` of the logits of nets that learned the labeled rows; `knn`, the distance to the
    nearest labeled row; `adversarial`, the answer of a classifier that tells labeled from unlabeled
    rows. Dropped are rows that score higher than 95% of the labeled rows, each of which is scored
    by what was fitted without it.

    Departures: the scores were published to reject rows when predicting, not to filter unlabeled
    rows for training; labeled rows are held out in five folds (energy, adversarial) or one by one
    (knn), since there are too few for a validation set; knn measures distances between the rows
    that the net is given, not between features of a trained net, and k is 1, as .1% of the labeled
    rows (the authors' share) is less than one.
    """

    by: _filter.By = "energy"

    version = 1
    own: ClassVar[tuple[str, ...]] = ("base", "by")
    space: ClassVar[Space] = {"by": ("energy", "knn", "adversarial")}

    def _encode(self, X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Matrix, Codes]:
        rows, codes = super()._encode(X, y)
        if len(self.classes_) == 1 or (codes >= 0).all():
            return rows, codes
        keep = _filter.kept(codes, self._scores(rows, codes))
        return rows[keep], codes[keep]

    def _scores(self, rows: Matrix, codes: Codes) -> _filter.Scores:
        if self.by != "energy":
            seed = check_random_state(self.random_state).randint(2**31)
            return _filter.distance_scores(self.by, rows, codes, seed)
        parts = without_a_fold(codes)
        detectors = [self._matched("supervised_net") for _ in parts]
        for error in detectors[0].fit_together(detectors, [(rows, part) for part in parts]):
            if error is not None:
                raise error
        plain = np.asarray(rows)
        return _filter.energy(codes, parts, [_energy(detector, plain) for detector in detectors])


def _energy(detector: Any, rows: Matrix) -> Matrix:
    """-log sum exp of the logits; 0 if the detector has seen only one class."""
    if len(detector.classes_) == 1:
        return np.zeros(len(rows))

    def answer(net: Net, params: Tensor, part: Tensor) -> Tensor:
        return -net(params, part).logsumexp(-1)

    energies: Matrix = detector.model_.answers(rows, answer)
    return energies
