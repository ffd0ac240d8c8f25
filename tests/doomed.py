"""Algorithms that go wrong, for the tests; named `doomed:Fails` and so on."""

import os
import signal
import time
import warnings
from contextlib import suppress

import numpy as np
from gates import LONG, pass_gate
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts the first class. No `predict_proba`, no version: what a stranger may bring."""

    def fit(self, X, y):
        self.classes_ = np.unique(y[y != -1])
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Fails(Constant):
    """Fails where the unlabeled rows of a feature environment have lost columns."""

    def fit(self, X, y):
        if np.ptp(X[y == -1], axis=0).min() < 1e-9:
            raise RuntimeError("a column is constant")
        return super().fit(X, y)


class Crashes(Fails):
    """Takes its process down where the other one fails."""

    def fit(self, X, y):
        try:
            return super().fit(X, y)
        except RuntimeError:
            os._exit(9)


class Exits(Constant):
    def fit(self, X, y):
        raise SystemExit(3)


class Dead(LogisticRegression):
    """Learns from the labeled rows alone and does not say so: a dead loss."""

    def fit(self, X, y):
        return super().fit(X[y != -1], y[y != -1])


class Sleeps(Constant):
    def fit(self, X, y):
        time.sleep(LONG)
        return super().fit(X, y)


class Gated(Constant):
    """Fits when a test opens the gate."""

    def __init__(self, *, gate="gate"):
        self.gate = gate

    def fit(self, X, y):
        pass_gate(self.gate)
        return super().fit(X, y)


class Overruns(Constant):
    """Has its time limit, however long it is, run out at once; lets no exception pass."""

    def fit(self, X, y):
        if not signal.getitimer(signal.ITIMER_REAL)[0]:
            raise RuntimeError("there is no time limit")
        with suppress(Exception):
            signal.raise_signal(signal.SIGALRM)
        return super().fit(X, y)


class Counts(Constant):
    """A baseline that leaves a mark for every fit."""

    supervised = True

    def __init__(self, *, folder="."):
        self.folder = folder

    def fit(self, X, y):
        with open(os.path.join(self.folder, "fits"), "a") as file:  # noqa: PTH118, PTH123
            file.write("x")
        return super().fit(X, y)


class Warns(Constant):
    def fit(self, X, y):
        warnings.warn("careful", stacklevel=1)
        return super().fit(X, y)


class Hungry(Constant):
    def fit(self, X, y):
        np.ones(2**29)
        return super().fit(X, y)


class Interrupts(Constant):
    def fit(self, X, y):
        raise KeyboardInterrupt


class Own(Constant):
    def fit(self, X, y):
        raise type("Mine", (BaseException,), {})("why not")


class Speechless(Constant):
    def fit(self, X, y):
        class MuteError(Exception):
            def __str__(self):
                raise ValueError("no words")

        raise MuteError


class Surrogate(Constant):
    def fit(self, X, y):
        raise ValueError("\ud800")


class Closes(Constant):
    """Raises what ends generators, such as those of the engine that runs it."""

    def fit(self, X, y):
        raise GeneratorExit


class Nul(Constant):
    """Fails with what PostgreSQL cannot keep in a text."""

    def fit(self, X, y):
        raise ValueError("before\0after")


class Wordy(Constant):
    """Fails with five million characters, and warns with as many."""

    def fit(self, X, y):
        warnings.warn("w" * 5_000_000, stacklevel=1)
        raise ValueError("e" * 5_000_000)


class Ends(Constant):
    """Ends its process at once."""

    def fit(self, X, y):
        os._exit(0)


class Forks(Constant):
    """Forks, and its child returns from `fit` too."""

    def fit(self, X, y):
        os.fork()
        return super().fit(X, y)


class Unkeepable(Constant):
    """Says with what it was trained in a form that no store can keep."""

    def fit(self, X, y):
        self.trained_with_ = {"what": lambda: None}
        return super().fit(X, y)


class GatedBeside(Gated):
    """One that an audit can try."""

    baseline = "supervised_logistic"


class EndsBeside(Ends):
    baseline = "supervised_logistic"


class Exploding(Constant):
    def fit(self, X, y):
        raise RuntimeError("it exploded")
