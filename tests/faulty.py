"""Algorithms that break one promise each, for the tests of the checks."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression

from robustssl.algorithms.self_training import SelfTraining
from robustssl.algorithms.supervised_logistic import SupervisedLogistic
from robustssl.method import Between


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


class Silent(SelfTraining):
    """Its fit returns nothing."""

    def fit(self, X, y):
        super().fit(X, y)


class Inventive(SelfTraining):
    def predict(self, X):
        return super().predict(X) + 1


class Lavish(SelfTraining):
    def predict_proba(self, X):
        return 2 * super().predict_proba(X)


class Wide(SelfTraining):
    def predict_proba(self, X):
        return np.hstack([super().predict_proba(X), np.zeros((len(X), 1))])


class Confused(SupervisedLogistic):
    baseline = "supervised_kernel"


class Circular(SelfTraining):
    baseline = "label_spreading"


class Boundless(SelfTraining):
    """Takes infinity for a large number."""

    def fit(self, X, y):
        return super().fit(np.where(np.isinf(X), 9.0, X), y)


class Hollow(SelfTraining):
    """Not finite where a feature is alone."""

    def predict_proba(self, X):
        p = super().predict_proba(X)
        return p * np.nan if np.shape(X)[1] == 1 else p

    def predict(self, X):
        return self.classes_[super().predict_proba(X).argmax(1)]


class Sleepy(SelfTraining):
    """Reads strings in another order."""

    def predict(self, X):
        guesses = super().predict(X)
        return guesses if guesses.dtype.kind == "i" else guesses[::-1]


class Slightly(SelfTraining):
    """A little worse: every fortieth answer is another one."""

    def fit(self, X, y):
        self.free_ = np.any(np.asarray(y) == -1)
        return super().fit(X, y)

    def predict_proba(self, X):
        p = super().predict_proba(X)
        if self.free_:
            p[::25] = np.roll(p[::25], 1, axis=1)
        return p


@dataclass(eq=False, repr=False, kw_only=True)
class Timid(SelfTraining):
    """Has an option that does the same wherever a search looks."""

    courage: float = 0.5
    space: ClassVar = {"courage": Between(0.6, 0.9)}

    def _fit(self, X, codes):
        bold = (codes >= 0) | (self.courage < 0.6)
        return super()._fit(X[bold], codes[bold])


@dataclass(eq=False, repr=False, kw_only=True)
class Idle(SelfTraining):
    """Has an option that nothing reads."""

    courage: float = 0.5
