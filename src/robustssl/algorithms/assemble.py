"""ASSEMBLE.AdaBoost (Bennett, Demiriz & Maclin, 2002)."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state

from robustssl.algorithms._boosting import Base, boost
from robustssl.classifier import Codes, EncodedClassifier, Matrix
from robustssl.spec import Count, Range


@dataclass(eq=False, repr=False, kw_only=True)
class Assemble(EncodedClassifier):
    """Boosting on labeled and unlabeled rows, where the ensemble F itself labels the latter.

    Unlabeled rows begin with the label of their nearest neighbours and share a weight of 1 - beta
    (None: every row weighs the same, so that the first learner does not overrule the neighbours).
    Each round a learner f fits the rows with the weights D; with e the weight it gets wrong,
    F <- F + w f, w = (log((1 - e) / e) + log(K - 1)) / 2, unlabeled rows take the label of F, and
    D is in proportion to exp(-(F_y - max of the others)). Of two classes that is the authors' rule;
    of more, that of SAMME (Zhu et al., 2009).

    base: a tree that looks at some features at each node and keeps half a hundredth of the weight
    in a leaf; or svm, which has no weights and fits as many rows as have labels, drawn by D. (The
    authors drew the rows of their trees too; of few rows, trees are poor.)
    """

    base: Base = "tree"
    rounds: Count = 30
    beta: Annotated[float, Range(above=0, below=1)] | None = None
    neighbors: Count = 3
    random_state: int | None = None

    baseline = "supervised_boosting"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"neighbors": 1, "beta": 0.9},
        "reference": {"base": "svm", "rounds": 30, "beta": 0.9, "neighbors": 3},
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        labeled, y = codes >= 0, codes.copy()
        beta = labeled.mean() if self.beta is None else self.beta
        nearest = KNeighborsClassifier(min(self.neighbors, labeled.sum()))
        y[~labeled] = nearest.fit(X[labeled], y[labeled]).predict(X[~labeled])
        return boost(
            X,
            y,
            np.where(labeled, beta / labeled.sum(), (1 - beta) / (~labeled).sum()),
            np.flatnonzero(~labeled),
            base=self.base,
            rounds=self.rounds,
            rng=check_random_state(self.random_state),
        )
