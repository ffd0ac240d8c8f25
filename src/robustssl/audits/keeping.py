"""How many of the unlabeled rows to use: the gain by the share that is kept."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robustssl.analysis.interval import Interval
from robustssl.audits.bench import Matrix
from robustssl.audits.gains import Gains
from robustssl.audits.mixture import LEVEL
from robustssl.audits.resampling import difference, difference_error, samples
from robustssl.audits.scores import score_of


@dataclass(frozen=True)
class Keeping:
    """The gain of a method that is given a share of the unlabeled rows, the most consistent first.

    gains: by share, from 0 to 1; at 0 it is the baseline, whose gain is 0. best: the share with the
    largest gain; its interval holds the best shares of bootstrap samples of the labeled rows.
    """

    method: str
    gains: Mapping[float, Interval]
    best: Interval


def keeping(gains: Gains, method: str, by_share: Mapping[float, Matrix]) -> Keeping:
    """by_share: what the method says of held-out rows, by share (n, classes); the whole of it, and
    the baseline, are known already.
    """
    n = len(gains.y)
    said = {**by_share, 0.0: gains.held[gains.alone][0], 1.0: gains.held[method][0]}
    shares = sorted(said)
    W = np.concatenate([np.ones((1, n)), samples(n)])
    scores = np.stack([score_of(gains.score, gains.y, said[share], W) for share in shares])
    lead = scores - scores[0]
    found = {
        share: difference(float(mine[0]), difference_error(mine[1:], n), n)
        for share, mine in zip(shares[1:], lead[1:], strict=True)
    }
    best = np.array(shares)[np.nan_to_num(scores, nan=-np.inf).argmax(0)]
    low, high = np.quantile(best[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest")
    place = Interval(float(best[0]), float(min(low, best[0])), float(max(high, best[0])))
    return Keeping(method, {0.0: Interval(0.0), **found}, place)
