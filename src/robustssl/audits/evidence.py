"""What speaks for and against a method: how it does on held-out rows beside the best baseline."""

from dataclasses import dataclass

import numpy as np

from robustssl.audits.bench import Matrix
from robustssl.audits.choice import luck_of
from robustssl.audits.gains import Gains
from robustssl.audits.resampling import difference_error, samples

LEAST = 0.02  # a smaller probability counts as this much


@dataclass(frozen=True)
class Evidence:
    """Of a method beside the best baseline.

    gain: in score, corrected for the luck of the baseline, which was chosen; error: its standard
    error. likelihood: the gain in the mean logarithm of the probability of the right class. apart:
    the share of unlabeled rows that the two answer differently. labels: how many rows were held
    out.
    """

    gain: float
    error: float
    likelihood: float
    apart: float
    labels: int


def evidence_of(gains: Gains, method: str, weights: Matrix | None = None) -> Evidence:
    """The evidence, with held-out rows weighted, if they are to stand for other rows."""
    baseline, n = gains.alone, len(gains.y)
    W = np.ones((1, n)) if weights is None else weights[None]
    gain, drawn = (
        gains.scores(method, rows) - gains.scores(baseline, rows) for rows in (W, samples(n) * W)
    )
    apart = _apart(gains, method, baseline)
    return Evidence(
        gain=float(gain[0]) + _luck(gains, baseline, apart),
        error=difference_error(drawn, n),
        likelihood=float(np.average(_logs(gains, method) - _logs(gains, baseline), weights=W[0])),
        apart=apart,
        labels=n,
    )


def _apart(gains: Gains, one: str, other: str) -> float:
    return float((gains.answers[one] != gains.answers[other]).mean())


def _logs(gains: Gains, learner: str) -> Matrix:
    """The logarithm of the probability of the right class of each row, over repeats (n,)."""
    P = gains.held[learner][:, np.arange(len(gains.y)), gains.y]
    return np.asarray(np.log(np.maximum(P, LEAST)).mean(0))


def _luck(gains: Gains, baseline: str, apart: float) -> float:
    """The luck of the baseline that a method does not share, which answers so many rows
    differently: with normal errors, in proportion to how far the other baselines are apart from it.
    """
    others = [_apart(gains, baseline, name) for name in gains.baselines if name != baseline]
    usual = float(np.mean(others)) if others else 0.0
    return luck_of(gains) * min(apart / usual, 1.0) if usual else 0.0
