"""The score of the learner that is best by cross-validation, corrected for having been chosen.

BBC-CV (Tsamardinos, Greasidou and Borboudakis, 2018): in each bootstrap sample of the labeled rows
the best learner is chosen, and scored by the rows that are not in the sample.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from robustssl.analysis.interval import Interval, Ties, student
from robustssl.audits.gains import Gains
from robustssl.audits.mixture import LEVEL
from robustssl.audits.resampling import error_of, samples


def score_of_best(gains: Gains, learners: Sequence[str]) -> Interval:
    """The score of the best of the learners. Its interval has the spread of the best score over
    bootstrap samples, and is at least as wide as that of a share of so many rows.
    """
    n, W = len(gains.y), samples(len(gains.y))
    inside = np.stack([gains.scores(name, W) for name in learners])
    outside = np.stack([gains.scores(name, 1.0 * (W == 0)) for name in learners])
    best = np.nan_to_num(inside, nan=-np.inf).argmax(0)[None]
    centre = float(np.nanmean(np.take_along_axis(outside, best, 0)))
    half = student(n - 1, LEVEL) * error_of(np.take_along_axis(inside, best, 0))
    if gains.score == "log_loss":
        return Interval(centre, centre - half, min(centre + half, 0.0))
    least, most = Ties(rows=n).limits(np.array(centre), LEVEL)
    low, high = min(centre - half, float(least)), max(centre + half, float(most))
    return Interval(centre, max(low, 0.0), min(high, 1.0))


@lru_cache(maxsize=1)
def luck_of(gains: Gains) -> float:
    """By how much the best baseline seems better than it is, because it is the best of several."""
    if len(gains.baselines) == 1:
        return 0.0
    corrected = float(score_of_best(gains, gains.baselines).estimate)
    return max(gains.mean(gains.alone) - corrected, 0.0)
