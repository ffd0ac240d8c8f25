"""Distribution and label space: the share of unlabeled rows that are unlike the labeled ones.

The unlabeled rows are a mixture: a share 1 - t is like the labeled rows, but for the shares of the
classes, and t is foreign. Let s be a score, lower for rows that look labeled, which every row was
given by a forest that has not seen it. Below any threshold c,

    P(s <= c, unlabeled) = (1 - t) P(s <= c, labeled) + t P(s <= c, foreign),

so 1 - t is at most the ratio of the first two, and equals it where no foreign row scores so low.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import nnls
from scipy.spatial.distance import cdist
from scipy.special import ndtr, ndtri
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from robustssl.audits.estimate import LEVEL, Estimate

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Step = Callable[[], None]

FOLDS = 5
STEPS = 2 * FOLDS
ERROR = 0.07  # standard deviation of t beyond chance, as measured: docs/tutorials/audit.md
_Z = float(ndtri((1 + LEVEL) / 2))


@dataclass(frozen=True, eq=False)
class Foreign:
    """How many of the unlabeled rows are foreign, and which.

    distribution: the share of rows that differ in any way. label: of rows that look like no labeled
    class. apart: AUROC with which a forest tells the two kinds of rows apart, and p the probability
    of one as high if they were alike. classes: the share of each class among the rows that are not
    foreign. weight: how much each feature tells. foreign: the probability of each row.
    """

    distribution: Estimate
    label: Estimate
    apart: float
    p: float
    classes: Matrix
    weight: Matrix
    foreign: Matrix


@dataclass(frozen=True, eq=False)
class _Fold:
    """Rows to learn from and rows held out, labeled (a, A) and not (b, B), each with its likeness
    to the labeled rows, which excludes the row itself.
    """

    A: Matrix
    B: Matrix
    a: Matrix
    b: Matrix
    codes: Codes
    labeled: Codes  # which rows are held out
    unlabeled: Codes


def find_foreign(X: Matrix, codes: Codes, Z: Matrix, step: Step = lambda: None) -> Foreign:
    """X: labeled rows of the classes `codes`, 0 to K - 1; Z: unlabeled rows. Takes STEPS steps."""
    scaler = StandardScaler().fit(np.concatenate([X, Z]))
    X, Z = scaler.transform(X), scaler.transform(Z)
    d, K = X.shape[1], codes.max() + 1
    folds = []
    for k, (x, z) in enumerate(_parts(X, codes, Z, seed=0)):
        A, B, left = _without(X, x), _without(Z, z), np.delete(codes, x)
        inner = _cross_likeness(A, left, B, K, seed=k + 1)
        held = map(_likeness(A, left, K), (X[x], Z[z]))
        parts = zip((A, B, X[x], Z[z]), (*inner, *held), strict=True)
        A, B, a, b = (np.hstack(pair) for pair in parts)
        folds.append(_Fold(A, B, a, b, codes=left, labeled=x, unlabeled=z))
        step()
    every, classlike = slice(0, d + DISTANCES), slice(d, None)

    shares = np.bincount(codes) / len(codes)
    low, high, _ = _scores(folds, every, shares, ExtraTreesClassifier)
    P, Q = np.empty((len(X), K)), np.empty((len(Z), K))
    for fold in folds:
        P[fold.labeled] = fold.a[:, every.stop :][:, :K]
        Q[fold.unlabeled] = fold.b[:, every.stop :][:, :K]
    shares = _class_shares(P, Q, codes, low, high)

    weights = (shares / np.bincount(codes))[codes]
    low, high, importance = _scores(folds, every, shares, RandomForestClassifier, step)
    distribution = mixture(low, high, weights)
    label = mixture(*_scores(folds, classlike, shares, ExtraTreesClassifier)[:2], weights)
    apart, p = _auroc(low, high, weights)
    return Foreign(
        distribution=distribution,
        label=_within(_hidden(label, P, codes), distribution),
        apart=apart,
        p=p,
        classes=shares,
        weight=importance[:d] / max(importance[:d].sum(), 1e-12),
        foreign=_posterior(low, high, weights, 1 - distribution.estimate),
    )


def mixture(low: Matrix, high: Matrix, weights: Matrix) -> Estimate:
    """t, from the scores of labeled rows (with weights) and of unlabeled ones.

    Of the thresholds, the one with the smallest ratio, or nearly the smallest and more certain.
    Where ratios go on falling towards low scores, foreign rows hide among the others: then t may be
    higher.
    """
    weights = weights / weights.sum()
    n, m = 1 / (weights**2).sum(), len(high)
    order = np.argsort(low)
    below = np.cumsum(weights[order])
    levels = np.arange(0.1, 0.96, 0.05)
    cuts = low[order][np.minimum(np.searchsorted(below, levels - 1e-9), len(low) - 1)]
    labeled = np.array([weights[low <= c].sum() for c in cuts])
    unlabeled = np.array([(high <= c).mean() for c in cuts])
    ratio, safe = unlabeled / labeled, (unlabeled * m + 0.5) / (m + 1)
    chance = np.sqrt(np.maximum(1 - labeled, 0) / labeled / n + (1 - safe) / safe / m)
    error = chance * safe / labeled
    sure = levels > 0.39
    best = int(np.flatnonzero(sure)[np.argmin((ratio + error)[sure])])
    t, half = 1 - min(ratio[best], 1.0), _Z * np.hypot(error[best], ERROR)
    most = max(t + half, 1 - (ratio + error).min() + _Z * ERROR)
    return Estimate(float(t), float(max(t - half, 0)), float(min(most, 1)))


def _parts(X: Matrix, codes: Codes, Z: Matrix, seed: int) -> list[tuple[Codes, Codes]]:
    """The rows of each fold: labeled ones, class by class, and unlabeled ones. Rows that are the
    same are of one fold.
    """
    n = max(min(FOLDS, np.bincount(codes)[np.unique(codes)].min()), 2)
    mine, theirs = np.split(same_rows(np.concatenate([X, Z])), [len(X)])
    own = np.unique(theirs, return_inverse=True)[1]
    places = np.random.default_rng(seed).permutation(own.max() + 1)[own] % n
    parts = []
    for k, (_, rows) in enumerate(stratified(codes, mine, n, seed)):
        parts.append(rows)
        places[np.isin(theirs, mine[rows])] = k
    return [(rows, np.flatnonzero(places == k)) for k, rows in enumerate(parts)]


def same_rows(X: Matrix) -> Codes:
    """A number for each row, the same for rows that are the same; unless the columns have so few
    values that different rows are often the same.
    """
    frame = pd.DataFrame(X)
    if np.log(frame.nunique()).sum() < np.log(10 * len(X)):
        return np.arange(len(X))
    return np.asarray(frame.groupby(list(frame), sort=False).ngroup())


def stratified(codes: Codes, groups: Codes, n: int, seed: int) -> Iterator[tuple[Codes, Codes]]:
    """Folds with their share of every class, in which a group is whole."""
    distinct = len(np.unique(groups))
    if distinct in (1, len(groups)):
        return StratifiedKFold(n, shuffle=True, random_state=seed).split(codes, codes)  # type: ignore[no-any-return]
    split = StratifiedGroupKFold(min(n, distinct), shuffle=True, random_state=seed)
    return split.split(codes, codes, groups)  # type: ignore[no-any-return]


def _without(X: Matrix, rows: Codes) -> Matrix:
    return np.asarray(np.delete(X, rows, axis=0))


DISTANCES = 5


def _likeness(X: Matrix, codes: Codes, K: int) -> Callable[[Matrix], Matrix]:
    """How like the labeled rows X others are: distances to class centres and to the nearest rows,
    plain and by the covariance within classes; probabilities of K classes, and the largest three.
    """
    present, own = np.unique(codes, return_inverse=True)
    centres = np.stack([X[codes == k].mean(0) for k in present])
    within = LedoitWolf(assume_centered=True).fit(X - centres[own])
    root = np.linalg.cholesky(within.precision_)
    how: Any = {"class_weight": "balanced", "random_state": 0, "n_jobs": 1}
    forest = ExtraTreesClassifier(60, min_samples_leaf=2, **how).fit(X, codes)

    def measure(rows: Matrix) -> Matrix:
        if not len(rows):
            return np.empty((0, DISTANCES + K + min(K, 3)))
        nearest = np.partition(cdist(rows, X), 2, axis=1)
        distances = (
            cdist(rows, centres).min(1),
            cdist(rows @ root, centres @ root).min(1),
            nearest[:, :2].min(1),
            nearest[:, 2],
            cdist(rows @ root, X @ root).min(1),
        )
        P = np.zeros((len(rows), K))
        P[:, present] = forest.predict_proba(rows)
        logs = np.log(np.stack(distances) + 1e-9)
        return np.column_stack([*logs, P, -np.sort(-P, axis=1)[:, :3]])

    return measure


def _cross_likeness(X: Matrix, codes: Codes, Z: Matrix, K: int, seed: int) -> tuple[Matrix, Matrix]:
    """The likeness of the rows X and Z, each to labeled rows of other folds."""
    parts = _parts(X, codes, Z, seed)
    found: tuple[list[Matrix], list[Matrix]] = ([], [])
    for x, z in parts:
        measure = _likeness(_without(X, x), np.delete(codes, x), K)
        found[0].append(measure(X[x]))
        found[1].append(measure(Z[z]))
    places = (np.argsort(np.concatenate(rows)) for rows in zip(*parts, strict=True))
    mine, theirs = (np.concatenate(v)[i] for v, i in zip(found, places, strict=True))
    return mine, theirs


def _scores(
    folds: list[_Fold], columns: slice, shares: Matrix, forest: Any, step: Step = lambda: None
) -> tuple[Matrix, Matrix, Matrix]:
    """Of labeled and unlabeled rows, the probability to be unlabeled, by a forest that has not seen
    the row; both kinds weigh the same, and the classes have the shares given. And how much each
    column tells.
    """
    low = np.empty(sum(len(fold.labeled) for fold in folds))
    high = np.empty(sum(len(fold.unlabeled) for fold in folds))
    told: Any = 0
    for fold in folds:
        weights = (shares / np.maximum(np.bincount(fold.codes, minlength=len(shares)), 1))[
            fold.codes
        ]
        both = np.concatenate([fold.A, fold.B])[:, columns]
        is_unlabeled = np.arange(len(both)) >= len(fold.A)
        weights = np.where(
            is_unlabeled, 1 / len(fold.B), np.pad(weights / weights.sum(), (0, len(fold.B)))
        )
        model = forest(100, min_samples_leaf=5, random_state=0)
        model.fit(both, is_unlabeled, sample_weight=weights * len(both))
        model.n_jobs = 1  # threads would add the trees up in any order, and so not quite alike
        low[fold.labeled] = model.predict_proba(fold.a[:, columns])[:, 1]
        if len(fold.b):
            high[fold.unlabeled] = model.predict_proba(fold.b[:, columns])[:, 1]
        told = told + model.feature_importances_
        step()
    return low, high, told


def _class_shares(P: Matrix, Q: Matrix, codes: Codes, low: Matrix, high: Matrix) -> Matrix:
    """The shares of the classes among unlabeled rows that look labeled: those with which the mean
    probabilities of the classes, P of labeled rows, mix to the mean of Q; near the shares of the
    labeled rows where the classes are hard to tell apart.
    """
    prior, cut = np.bincount(codes) / len(codes), np.quantile(low, 0.9)
    mine, theirs, K = low <= cut, high <= cut, codes.max() + 1
    parts = [P[mine & (codes == k)] for k in range(K)]
    if theirs.sum() < 10 or min(map(len, parts)) < 2:
        return np.asarray(prior)
    noise = sum(
        share**2 * part.var(0) / len(part) for share, part in zip(prior, parts, strict=True)
    )
    noise = np.mean(noise + Q[theirs].var(0) / theirs.sum())
    pull, one = np.sqrt(2 * noise) * K, 100.0  # the shares sum to one
    mix = np.stack([part.mean(0) for part in parts], 1)
    A = np.concatenate([mix, np.full((1, K), one), pull * np.eye(K)])
    shares, _ = nnls(A, np.concatenate([Q[theirs].mean(0), [one], pull * prior]))
    kept = np.array([mine[codes == k].mean() for k in range(K)])
    shares = np.maximum(shares / np.maximum(kept, 0.1), 1e-6)
    return np.asarray(shares / shares.sum())


def _hidden(label: Estimate, P: Matrix, codes: Codes) -> Estimate:
    """As far as the labeled classes are confused with each other, an unknown class may be taken for
    one of them: t may be higher by that.
    """
    K = codes.max() + 1
    hit = np.mean([(P[codes == k].argmax(1) == k).mean() for k in range(K)])
    confused = min((1 - hit) / (1 - 1 / K), 0.99)
    return Estimate(label.estimate, label.low, min(label.high / (1 - confused), 1.0))


def _within(label: Estimate, distribution: Estimate) -> Estimate:
    """Rows that look like no class are among those that differ."""
    return Estimate(
        min(label.estimate, distribution.estimate), min(label.low, distribution.low), label.high
    )


def _auroc(low: Matrix, high: Matrix, weights: Matrix) -> tuple[float, float]:
    """Weighted, and the probability of a larger one by chance (normal approximation)."""
    weights = weights / weights.sum()
    order = np.sort(high)
    above = (
        len(high) - (np.searchsorted(order, low) + np.searchsorted(order, low, side="right")) / 2
    ) / len(high)
    area, n, m = float(weights @ above), 1 / (weights**2).sum(), len(high)
    return area, float(ndtr(-(area - 0.5) / np.sqrt((n + m + 1) / (12 * n * m))))


def _posterior(low: Matrix, high: Matrix, weights: Matrix, kappa: float) -> Matrix:
    """The probability of each unlabeled row to be foreign: 1 - kappa dP(labeled)/dP(unlabeled)."""
    both = np.concatenate([low, high])
    weights = np.concatenate([weights / weights.sum(), np.full(len(high), 1 / len(high))])
    is_labeled = np.arange(len(both)) < len(low)
    curve = IsotonicRegression(increasing=False, out_of_bounds="clip")
    p = curve.fit(both, is_labeled, sample_weight=weights).predict(high)
    return np.asarray(np.clip(1 - kappa * p / np.maximum(1 - p, 1e-9), 0, 1))
