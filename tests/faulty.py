"""Algorithms that break one promise each, for the tests of the checks."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from robustssl.algorithms.self_training import SelfTraining
from robustssl.algorithms.supervised_logistic import SupervisedLogistic


class Dead(SupervisedLogistic):
    """Ignores its unlabeled rows, and does not say so."""

    supervised = False
    baseline = "supervised_logistic"


class Nosy(SelfTraining):
    supervised = True
    baseline = None


class Worse(SelfTraining):
    """Answers at random where it has unlabeled rows."""

    def fit(self, X, y):
        self.free_ = np.any(np.asarray(y) == -1)
        return super().fit(X, y)

    def predict_proba(self, X):
        p = super().predict_proba(X)
        return np.random.default_rng(0).permutation(p) if self.free_ else p


class Forgetful(SelfTraining):
    def fit(self, X, y):
        self.threshold = 0.9
        return super().fit(X, y)


class Fickle(SelfTraining):
    def fit(self, X, y):
        return super().fit(X + np.random.default_rng().normal(size=X.shape), y)


class Unsure(SelfTraining):
    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmin(1)]


class Gullible(SelfTraining):
    def fit(self, X, y):
        return super().fit(np.nan_to_num(X), y)


class Fragile(SelfTraining):
    def fit(self, X, y):
        if len(set(y)) < 3:
            raise ValueError("too few")
        return super().fit(X, y)


class Illiterate(SelfTraining):
    def predict(self, X):
        return self.predict_proba(X).argmax(1)


class Orphan(SelfTraining):
    baseline = None


class Other(SelfTraining):
    """Without unlabeled rows it is not its baseline."""

    def fit(self, X, y):
        super().fit(X, y)
        if np.all(np.asarray(y) != -1):
            self.model_ = LogisticRegression(C=1e-4).fit(X, y)
        return self
