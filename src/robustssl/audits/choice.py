"""The score of the learner that is best by cross-validation, corrected for having been chosen.

BBC-CV (Tsamardinos, Greasidou and Borboudakis, 2018): in each bootstrap sample of the labeled rows
the best learner is chosen, and scored by the rows that are not in the sample.
"""

from collections.abc import Sequence

import numpy as np

from robustssl.analysis.interval import Interval, Ties, student
from robustssl.audits.bench import Matrix
from robustssl.audits.folds import FOLDS
from robustssl.audits.gains import Gains
from robustssl.audits.mixture import LEVEL

SAMPLES = 500
SHARED = 1 + 1 / (FOLDS - 1)  # variance of a mean over folds that share rows: Nadeau, Bengio (2003)


def score_of_best(gains: Gains, learners: Sequence[str], weights: Matrix | None = None) -> Interval:
    """The score of the best of the learners. Its interval has the spread of the best score over
    bootstrap samples, and is as wide as the rows demand where every answer is right.
    """
    n = len(gains.y)
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), SAMPLES).astype(float)
    W = np.ones(n) if weights is None else weights
    inside = np.stack([gains.scores(name, counts * W) for name in learners])
    outside = np.stack([gains.scores(name, (counts == 0) * W) for name in learners])
    best = np.nan_to_num(inside, nan=-np.inf).argmax(0)[None]
    centre = float(np.nanmean(np.take_along_axis(outside, best, 0)))
    spread = np.nanstd(np.take_along_axis(inside, best, 0), ddof=1)
    half = float(student(n - 1, LEVEL) * spread * np.sqrt(SHARED))
    low, high = centre - half, centre + half
    if gains.score == "log_loss":
        return Interval(centre, low, min(high, 0.0))
    least, most = Ties(rows=n).limits(np.array(centre), LEVEL)
    return Interval(centre, max(min(low, float(least)), 0.0), min(max(high, float(most)), 1.0))
