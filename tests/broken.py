"""Environments that break one promise each, for the tests of the checks."""

import secrets
from dataclasses import dataclass, replace

import numpy as np
from sklearn.preprocessing import StandardScaler

from robustssl.environments.distribution import Distribution
from robustssl.environments.feature import Feature
from robustssl.environments.label import Label
from robustssl.environments.prior import Prior


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
    def seen(self, pools, t):
        return super().seen(replace(pools, seed=pools.seed + int(100 * t)), t)


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


@dataclass(frozen=True, kw_only=True)
class LeaksInFeature(Label):
    """Writes the class into a feature of the unlabeled rows."""

    def seen(self, pools, t):
        X, rows = super().seen(pools, t)
        X = X.copy()
        X[:, 0] = np.where(t > 0, pools.data.y[rows], X[:, 0])
        return X, rows


@dataclass(frozen=True, kw_only=True)
class TestsTheUnknown(Label):
    def pools(self, data, labels, rng):
        pools = super().pools(data, labels, rng)
        return replace(pools, test=pools.aside, aside=pools.test)


@dataclass(frozen=True, kw_only=True)
class Mislabels(Label):
    def split(self, pools, t):
        split = super().split(pools, t)
        return replace(split, y_test=split.y_test[::-1])


@dataclass(frozen=True, kw_only=True)
class SwapsPools(Label):
    def pools(self, data, labels, rng):
        pools = super().pools(data, labels, rng)
        return replace(pools, consistent=pools.inconsistent, inconsistent=pools.consistent)


@dataclass(frozen=True, kw_only=True)
class DegradesByT(Label):
    def seen(self, pools, t):
        X, rows = super().seen(pools, t)
        return X + t * np.isin(rows, pools.inconsistent)[:, None], rows


@dataclass(frozen=True, kw_only=True)
class UsesWhatIsAside(Label):
    def seen(self, pools, t):
        _, rows = super().seen(pools, t)
        rows = np.concatenate([rows[:-1], pools.aside[:1]])
        return pools.data.X[rows], rows


@dataclass(frozen=True, kw_only=True)
class BringsBack(Label):
    """Takes the first consistent rows away at small t, the last ones at large t."""

    def seen(self, pools, t):
        order = 1 if t < 0.5 else -1
        return super().seen(replace(pools, consistent=pools.consistent[::order]), t)


@dataclass(frozen=True, kw_only=True)
class LosesTooMany(Feature):
    def seen(self, pools, t):
        return super().seen(pools, min(1.0, 2 * t))


@dataclass(frozen=True, kw_only=True)
class AddsTooFew(Label):
    def seen(self, pools, t):
        X, rows = super().seen(pools, t)
        kept = len(rows) - int(5 * t)
        return X[:kept], rows[:kept]


@dataclass(frozen=True, kw_only=True)
class Blinks(Label):
    """Degrades by chance, anew in every process."""

    def degrade(self, pools, rows):
        return super().degrade(pools, rows) + SALT


SALT = secrets.randbits(20)


@dataclass(frozen=True, kw_only=True)
class SharesJump(Prior):
    """Brings in the inconsistent rows class by class."""

    def pools(self, data, labels, rng):
        pools = super().pools(data, labels, rng)
        order = np.argsort(data.y[pools.inconsistent], kind="stable")
        return replace(pools, inconsistent=pools.inconsistent[order])


@dataclass(frozen=True, kw_only=True)
class KnownByLabels(Label):
    """Draws the known classes anew for each number of labels."""

    known: str = "drawn"

    def pools(self, data, labels, rng):
        return super().pools(data, labels, np.random.default_rng((7, labels)))


@dataclass(frozen=True, kw_only=True)
class NearByT(Label):
    """Takes near classes first and far ones for larger t, instead of the ones chosen before."""

    unknown: str | None = "near"

    def seen(self, pools, t):
        far = Label(unknown="far").pools(pools.data, 3, np.random.default_rng(0))
        n = len(pools.inconsistent)
        if t > 0.5 and len(far.inconsistent) >= n:
            pools = replace(pools, inconsistent=far.inconsistent[:n])
        return super().seen(pools, 1 - t if t > 0.5 else t)


@dataclass(frozen=True, kw_only=True)
class CopiesTest(Label):
    """Takes what test rows hold for rows of another dataset."""

    unknown: str | None = "toy:news"

    def degrade(self, pools, rows):
        return pools.data.X[pools.test[np.arange(len(rows)) % len(pools.test)]]


@dataclass(frozen=True, kw_only=True)
class BiasedByLabels(Distribution):
    labeled: str = "biased"

    def pools(self, data, labels, rng):
        return super().pools(data, labels, np.random.default_rng((7, labels)))


@dataclass(frozen=True, kw_only=True)
class PriorLosesByT(Prior):
    """Degrades rows more, the more of them there are."""

    def degrade(self, pools, rows):
        return super().degrade(pools, rows) // (1 + len(rows) // 100)


@dataclass(frozen=True, kw_only=True)
class LacksAClass(Distribution):
    """Says of rows that they are paired, though one class has no inconsistent rows."""

    def divide(self, data, rng):
        near, far = super().divide(data, rng)
        return near, far[data.y[far] > 0]
