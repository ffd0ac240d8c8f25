"""Distribution and label space: the share of unlabeled rows that differ from the labeled rows.

The unlabeled rows are a mixture. A share 1 - t of them is consistent: like the labeled rows, apart
from the shares of the classes. The rest is inconsistent. Let s be a score that is lower for rows
that look labeled, given to every row by a forest that has not seen it. Below any threshold c,

    P(s <= c | unlabeled) = (1 - t) P(s <= c | labeled) + t P(s <= c | inconsistent),

so 1 - t is at most the ratio of the first two, and equals it where no inconsistent row scores so
low.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.preprocessing import StandardScaler

from robustssl.analysis.interval import Interval
from robustssl.audits.class_shares import estimate_classes
from robustssl.audits.drift import move_back
from robustssl.audits.folds import FOLDS, Both, Codes, Matrix
from robustssl.audits.forests import DISTANCES, Step, make_folds, score

LEVEL = 0.9  # of every interval of an audit
STEPS = 2 * FOLDS
ALPHA = 0.05  # of the test that labeled and unlabeled rows do not differ
CONFUSED = 1 / 3  # of labeled classes: with more, most of an unknown class may look known
ERROR = 0.07  # standard deviation of t beyond chance, as measured: docs/tutorials/audit.md
_Z = float(ndtri((1 + LEVEL) / 2))


@dataclass(frozen=True, eq=False)
class Mixture:
    """How many of the unlabeled rows are inconsistent, and which.

    distribution: the share of rows that differ in any way. label: the share of rows that look like
    no labeled class, nan if not known. drift: how far all rows have moved alike, in standard
    deviations, if that is the whole difference, else nan. confused: how much the labeled classes
    are confused with each other, from 0 to 1 (chance). auroc: how well a forest tells unlabeled
    from labeled rows; p: the p-value of the test that they do not differ. classes: the share of
    each class among the consistent rows, (K,); changed: whether it differs from that among the
    labeled rows beyond chance, (K,). weight: the importance of each feature. inconsistent: the
    probability of each row.
    """

    distribution: Interval
    label: Interval
    drift: float
    confused: float
    auroc: float
    p: float
    classes: Interval
    changed: npt.NDArray[np.bool_]
    weight: Matrix
    inconsistent: Matrix


def estimate_mixture(
    X: Matrix,
    codes: Codes,
    Z: Matrix,
    step: Step = lambda: None,
    sample: Codes | None = None,
    group: Both | None = None,
) -> Mixture:
    """X: labeled rows of the classes `codes`, 0 to K - 1; Z: unlabeled rows. Takes STEPS steps.

    sample: the rows of Z that are examined; by default, all. Only `inconsistent` is given for the
    others too. group: the rows of a group stay together in the folds.
    """
    sample = np.arange(len(Z)) if sample is None else sample
    scaler = StandardScaler().fit(np.concatenate([X, Z[sample]]))
    X, Z = scaler.transform(X), scaler.transform(Z)
    d, K = X.shape[1], codes.max() + 1
    folds = make_folds(X, codes, Z, sample, group, step)
    every, classlike = slice(0, d + DISTANCES), slice(d, None)

    shares = np.bincount(codes) / len(codes)
    low, high, _ = score(folds, every, shares, ExtraTreesClassifier)
    P, Q = np.empty((len(X), K)), np.empty((len(Z), K))
    for fold in folds:
        P[fold.labeled] = fold.a[:, every.stop :][:, :K]
        Q[fold.unlabeled] = fold.b[:, every.stop :][:, :K]
    classes, changed = estimate_classes(P, Q[sample], codes, low, high[sample], LEVEL)
    shares = classes.estimate

    weights = (shares / np.bincount(codes))[codes]
    label_scores = score(folds, classlike, shares, ExtraTreesClassifier)
    label = estimate_share(label_scores[0], label_scores[1][sample], weights)
    low, high, importance = score(folds, every, shares, RandomForestClassifier, step, Z)
    distribution = estimate_share(low, high[sample], weights)
    auroc, p = _auroc(low, high[sample], weights)
    inconsistent = _posterior(low, high[sample], weights, 1 - distribution.estimate)(high)
    drift = np.nan
    if distribution.low > 0 and p < ALPHA:
        low, back, size = move_back(folds, X, codes, Z[sample])
        drift = size if _auroc(low, back[sample], np.ones(len(X)))[1] > ALPHA else np.nan
    confused = _confused(P, codes)
    kinds = consistent(distribution, label, confused if np.isnan(drift) else 1.0)
    return Mixture(
        distribution=kinds[0],
        label=kinds[1],
        drift=drift,
        confused=confused,
        auroc=auroc,
        p=p,
        classes=classes,
        changed=changed,
        weight=importance[:d] / max(importance[:d].sum(), 1e-12),
        inconsistent=inconsistent,
    )


def estimate_share(low: Matrix, high: Matrix, weights: Matrix) -> Interval:
    """t, from the scores of labeled rows (low, with weights) and of unlabeled rows (high).

    The threshold is the one with the smallest ratio, or nearly the smallest and more certain. Where
    ratios go on falling towards low scores, inconsistent rows hide among the others, so the upper
    end is raised.
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
    return Interval(float(t), float(max(t - half, 0)), float(min(most, 1)))


def _confused(P: Matrix, codes: Codes) -> float:
    """How much the labeled classes are confused with each other, from 0 to 1 (chance)."""
    K = codes.max() + 1
    hit = np.mean([(P[codes == k].argmax(1) == k).mean() for k in range(K)])
    return float(np.clip((1 - hit) / (1 - 1 / K), 0, 1))


def consistent(
    distribution: Interval, label: Interval, confused: float
) -> tuple[Interval, Interval]:
    """Intervals of both kinds that do not contradict each other: rows that look like no class are
    among the rows that differ.

    An unknown class may be confused with a labeled one as these are with each other, so the upper
    ends of both are raised as far. Where that is more than CONFUSED, unknown classes may hide:
    label is unknown, and distribution counts only the differences that can be seen.
    """
    if confused > CONFUSED:
        return distribution, Interval(np.nan, 0.0, 1.0)
    high = min(label.high / (1 - confused), 1.0)
    estimate, low = min(label.estimate, distribution.estimate), min(label.low, distribution.low)
    return replace(distribution, high=max(distribution.high, high)), Interval(estimate, low, high)


def _auroc(low: Matrix, high: Matrix, weights: Matrix) -> tuple[float, float]:
    """The weighted AUROC, and the probability of a larger one by chance (normal approximation)."""
    weights = weights / weights.sum()
    order = np.sort(high)
    above = (
        len(high) - (np.searchsorted(order, low) + np.searchsorted(order, low, side="right")) / 2
    ) / len(high)
    area, n, m = float(weights @ above), 1 / (weights**2).sum(), len(high)
    return area, float(ndtr(-(area - 0.5) / np.sqrt((n + m + 1) / (12 * n * m))))


def _posterior(
    low: Matrix, high: Matrix, weights: Matrix, kappa: float
) -> Callable[[Matrix], Matrix]:
    """A function of scores: the probability that an unlabeled row is inconsistent,
    1 - kappa dP(labeled)/dP(unlabeled), where kappa is the share of consistent rows.
    """
    both = np.concatenate([low, high])
    weights = np.concatenate([weights / weights.sum(), np.full(len(high), 1 / len(high))])
    is_labeled = np.arange(len(both)) < len(low)
    curve = IsotonicRegression(increasing=False, out_of_bounds="clip")
    curve.fit(both, is_labeled, sample_weight=weights)

    def inconsistent(scores: Matrix) -> Matrix:
        p = curve.predict(scores)
        return np.asarray(np.clip(1 - kappa * p / np.maximum(1 - p, 1e-9), 0, 1))

    return inconsistent
