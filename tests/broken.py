"""Environments that break one promise each, for the tests of the checks."""

import secrets
from dataclasses import dataclass, replace

import numpy as np
from sklearn.preprocessing import StandardScaler

from robustssl.environments.feature import Feature
from robustssl.environments.label import Label


@dataclass(frozen=True, kw_only=True)
class Overlaps(Label):
    """Test rows among the unlabeled ones."""

    def seen(self, pools, t):
        _, rows = super().seen(pools, t)
        rows = np.concatenate([rows[:-1], pools.test[:1]])
        return pools.data.X[rows], rows


@dataclass(frozen=True, kw_only=True)
class MovesTest(Label):
    def split(self, pools, t):
        split = super().split(pools, t)
        return split if t < 0.5 else replace(split, X_test=split.X_test[::-1])


@dataclass(frozen=True, kw_only=True)
class MovesLabeled(Label):
    def split(self, pools, t):
        split = super().split(pools, t)
        return replace(split, X=split.X + (t == 1))


@dataclass(frozen=True, kw_only=True)
class NotNested(Label):
    """Draws the inconsistent rows anew at each t."""

    def seen(self, pools, t):
        order = np.random.default_rng(int(100 * t)).permutation(len(pools.inconsistent))
        return super().seen(replace(pools, inconsistent=pools.inconsistent[order]), t)


@dataclass(frozen=True, kw_only=True)
class Miscounts(Label):
    """Rounds down."""

    def seen(self, pools, t):
        return super().seen(pools, np.floor(t * len(pools.consistent)) / len(pools.consistent))


@dataclass(frozen=True, kw_only=True)
class Shrinks(Label):
    def seen(self, pools, t):
        X, rows = super().seen(pools, t)
        n = len(rows) - int(3 * t)
        return X[:n], rows[:n]


@dataclass(frozen=True, kw_only=True)
class RedrawsColumns(Feature):
    def degrade(self, pools, rows, t):
        return super().degrade(replace(pools, seed=pools.seed + int(100 * t)), rows, t)


@dataclass(frozen=True, kw_only=True)
class Leaks(Label):
    def split(self, pools, t):
        split = super().split(pools, t)
        y = split.y.copy()
        y[-1] = pools.data.y[split.rows[-1]]
        return replace(split, y=y)


@dataclass(frozen=True, kw_only=True)
class ScalesByT(Label):
    """Standardises by the rows of each t, and the test rows too."""

    scales = True

    def split(self, pools, t):
        split = super().split(pools, t)
        scaler = StandardScaler().fit(split.X)
        return replace(split, X_test=scaler.transform(split.X_test))


@dataclass(frozen=True, kw_only=True)
class Forgets(Label):
    """Draws from no seed."""

    def pools(self, data, labels, rng):
        return super().pools(data, labels, np.random.default_rng(secrets.randbits(64)))
