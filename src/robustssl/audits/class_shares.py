"""The shares of the classes among unlabeled rows that look labeled, with their intervals."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls
from scipy.special import ndtri

from robustssl.analysis.interval import Interval
from robustssl.audits.folds import Codes, Matrix

DRAWS = 200  # of the bootstrap


def estimate_classes(
    P: Matrix, Q: Matrix, codes: Codes, low: Matrix, high: Matrix, level: float
) -> tuple[Interval, npt.NDArray[np.bool_]]:
    """The share of each class, and whether it differs from that of the labeled rows beyond chance.

    P, Q: probabilities of the classes, of labeled and unlabeled rows; low, high: how much they look
    unlabeled. With the shares, the mean P of each class mix to the mean of Q. The estimate is drawn
    towards the shares of the labeled rows where the classes are hard to tell apart; its interval is
    not: it is that of a bootstrap of the rows, whose scores come from forests that have not seen
    them. Where too few rows look labeled, nothing is known.
    """
    prior, cut, K = np.bincount(codes) / len(codes), np.quantile(low, 0.9), codes.max() + 1
    labeled, Q = low <= cut, Q[high <= cut]
    by_class = [P[labeled & (codes == k)] for k in range(K)]
    if len(Q) < 10 or min(map(len, by_class)) < 2:
        return Interval(prior, np.zeros(K), np.ones(K)), np.zeros(K, bool)
    kept = np.array([labeled[codes == k].mean() for k in range(K)])
    noise = sum(
        share**2 * part.var(0) / len(part) for share, part in zip(prior, by_class, strict=True)
    )
    pull = np.sqrt(2 * np.mean(noise + Q.var(0) / len(Q))) * K
    means = np.stack([part.mean(0) for part in by_class], 1)
    estimate = _mix(means, Q.mean(0), kept, pull, prior)

    rng = np.random.default_rng(0)
    means_drawn = np.stack([_means(part, rng) for part in by_class], 2)
    kept_drawn = rng.binomial(np.bincount(codes), kept, (DRAWS, K)) / np.bincount(codes)
    drawn = zip(means_drawn, _means(Q, rng), kept_drawn, strict=True)
    mixes = [_mix(mine, theirs, of_class, 0.0, prior) for mine, theirs, of_class in drawn]
    ends = np.quantile(mixes, [(1 - level) / 2, (1 + level) / 2], axis=0)
    error = np.std(mixes - rng.multinomial(len(codes), prior, DRAWS) / len(codes), axis=0)
    apart = np.abs(_mix(means, Q.mean(0), kept, 0.0, prior) - prior)
    changed = apart > ndtri(1 - (1 - level) / 2 / K) * error  # any of K, by chance in 1 - level
    return Interval(estimate, np.minimum(ends[0], estimate), np.maximum(ends[1], estimate)), changed


def _means(rows: Matrix, rng: np.random.Generator) -> Matrix:
    """The means of rows drawn with replacement, (DRAWS, columns)."""
    n = len(rows)
    return np.asarray(rng.multinomial(n, np.full(n, 1 / n), DRAWS) @ rows / n)


def _mix(means: Matrix, mean: Matrix, kept: Matrix, pull: float, prior: Matrix) -> Matrix:
    """The shares with which the columns of `means` mix to `mean`, drawn towards `prior`; of all
    rows, where a share `kept` of each class was looked at.
    """
    K, one = len(prior), 100.0  # the weight of the condition that the shares sum to one
    A = np.concatenate([means, np.full((1, K), one), pull * np.eye(K)])
    shares, _ = nnls(A, np.concatenate([mean, [one], pull * prior]))
    shares = np.maximum(shares / np.maximum(kept, 0.1), 1e-6)
    return np.asarray(shares / shares.sum())
