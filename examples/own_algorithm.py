"""An algorithm of one's own: any scikit-learn classifier whose `fit` takes -1 for "unlabeled".

    cd examples
    robustssl check own_algorithm:NeighbourVote
    robustssl run quickstart --algorithm own_algorithm:NeighbourVote

`EncodedClassifier` is a help, not a must: it checks the input, numbers the classes from 0, and
answers by what `_fit` returns.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors

from robustssl.classifier import EncodedClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class NeighbourVote(EncodedClassifier):
    """Guess the unlabeled rows, smooth each guess by its neighbours', learn from the sure ones."""

    neighbours: int = 10
    trust: float = 0.8

    version = 1  # raise it when the code changes: its cells are then run again
    baseline = "supervised_logistic"  # what it is compared with

    def _fit(self, X, codes):
        known = codes != -1
        first = LogisticRegression(max_iter=1000).fit(X[known], codes[known])
        around = NearestNeighbors(n_neighbors=min(self.neighbours, len(X))).fit(X)
        guess = first.predict_proba(X)[around.kneighbors(X, return_distance=False)].mean(1)
        taken = known | (guess.max(1) >= self.trust)
        labels = np.where(known, codes, first.classes_[guess.argmax(1)])
        return LogisticRegression(max_iter=1000).fit(X[taken], labels[taken])
