"""How many of the unlabeled rows to use: the gain by the share that is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from robustssl.analysis.interval import Interval
from robustssl.audits.bench import Matrix
from robustssl.audits.gains import Gains
from robustssl.audits.mixture import LEVEL
from robustssl.audits.resampling import samples
from robustssl.audits.verdict import believed_gain


@dataclass(frozen=True)
class Keeping:
    """The gain of a method that is given a share of the unlabeled rows, the most consistent first.

    gains: by share, from 0 to 1, as believed; at 0 it is the baseline, whose gain is 0, and at 1
    the gain of the verdict. best: the share with the largest gain; its interval holds the best
    shares of bootstrap samples of the labeled rows.
    """

    method: str
    gains: Mapping[float, Interval]
    best: Interval


def keeping(gains: Gains, method: str, by_share: Mapping[float, Matrix]) -> Keeping:
    """by_share: what the method says of held-out rows, by share (repeats, n, classes); with all
    unlabeled rows, and without them, this is known already.
    """
    said = {**by_share, 1.0: gains.held[method]}
    shares = sorted(said)
    kept = [replace(gains, held={**gains.held, method: said[share]}) for share in shares]
    found = [believed_gain(some, method) for some in kept]
    W = np.concatenate([np.ones((1, len(gains.y))), samples(len(gains.y))])
    lead = np.stack([some.scores(method, W) for some in kept]) - gains.scores(gains.alone, W)
    lead += np.array([gain.estimate for gain in found])[:, None] - lead[:, :1]
    every = np.vstack([np.zeros(len(W)), lead])
    best = np.array([0.0, *shares])[np.nan_to_num(every, nan=-np.inf).argmax(0)]
    low, high = np.quantile(best[1:], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest")
    place = Interval(float(best[0]), float(min(low, best[0])), float(max(high, best[0])))
    return Keeping(method, {0.0: Interval(0.0), **dict(zip(shares, found, strict=True))}, place)
