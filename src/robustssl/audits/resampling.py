"""Bootstrap samples of the labeled rows, as weights."""

import numpy as np

from robustssl.analysis.interval import Interval, Ties, student
from robustssl.audits.bench import Matrix
from robustssl.audits.folds import FOLDS
from robustssl.audits.mixture import LEVEL

SAMPLES = 500
# Standard errors are so many times larger than those of a mean over independent rows: since folds
# share rows, by Nadeau and Bengio (2003), and by 1.2 beyond that (experiments/audits.py --tune).
WIDER = 1.2 * (1 + 1 / (FOLDS - 1)) ** 0.5


def samples(n: int, weights: Matrix | None = None) -> Matrix:
    """How often each row is in each sample (SAMPLES, n), times its weight."""
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), SAMPLES)
    return np.asarray(counts * (1.0 if weights is None else weights))


def error_of(values: Matrix) -> float:
    """The standard error of a number of which the values in the samples are given."""
    return float(np.nanstd(values, ddof=1) * WIDER)


def difference_error(values: Matrix, n: int) -> float:
    """The standard error of a difference of two scores of n rows, whose values in the samples are
    given; but at least that of what so many rows may hide where no row differs.
    """
    _, hidden = Ties(rows=n, difference=True).limits(np.zeros(()), LEVEL)
    return max(error_of(values), float(hidden) / float(student(n - 1, LEVEL)))


def difference(estimate: float, error: float, n: int) -> Interval:
    """Student's interval of a difference of two scores of n rows."""
    half = float(student(n - 1, LEVEL)) * error
    return Interval(estimate, estimate - half, estimate + half)
