"""The answer of an audit: yes, no, or cannot tell.

With a few dozen labels, held-out rows alone hardly ever show a gain: its standard error is larger
than most gains. So what they show is combined with what is known before: how large gains are where
the method and the baseline answer so many unlabeled rows differently, and so on (`Prior`). Both are
taken as normal, so that the gain that is believed afterwards is normal, too.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from robustssl.analysis.decisions import labels_to_see
from robustssl.analysis.interval import Interval
from robustssl.analysis.labels import Labels
from robustssl.audits.bench import Matrix
from robustssl.audits.evidence import Evidence, evidence_of
from robustssl.audits.gains import Gains
from robustssl.audits.mixture import LEVEL
from robustssl.audits.resampling import difference
from robustssl.errors import InputError

Answer = Literal["yes", "no", "cannot tell"]

MARGIN = 0.01  # a gain that is smaller, or a loss, makes no difference
_Z = float(ndtri((1 + LEVEL) / 2))


@dataclass(frozen=True)
class Verdict:
    """Whether to use the unlabeled rows.

    method, baseline: the best learners with and without unlabeled rows. gain: of the method over
    the baseline, as believed after it was measured. measured: by held-out rows alone. helps, harms:
    the probabilities that the gain is above 0, and that it is a loss of more than MARGIN. there:
    the gain if the classes have the shares that they have among the unlabeled rows. labels: if the
    answer is `cannot tell`, how many labels in all would tell. worth: what the gain is worth in
    labels. What is not known is None. apart: the share of unlabeled rows that the two learners
    answer differently; over unlabeled rows, the gain lies between minus and plus that share.
    """

    answer: Answer
    method: str
    baseline: str
    gain: Interval
    measured: Interval
    helps: float
    harms: float
    apart: float
    there: Interval | None = None
    labels: int | None = None
    worth: Labels | None = None


@dataclass(frozen=True)
class Prior:
    """What is believed of a gain before it is measured: it is normal. Its mean is proportional to
    the gain in log-likelihood, which is less a matter of chance than that in accuracy. Its standard
    deviation grows with the share of rows that the two learners answer differently.
    """

    likelihood: float
    spread: float
    least: float

    def of(self, evidence: Evidence) -> tuple[float, float]:
        """The mean and the standard deviation."""
        mean = self.likelihood * evidence.likelihood
        return mean, float(np.hypot(self.least, self.spread * evidence.apart))


# Chosen on the tuning half of the tables: experiments/audits.py --tune.
PRIOR = Prior(likelihood=0.1, spread=0.35, least=0.016)
YES, NO, HARM = 0.85, 0.2, 0.1  # probabilities at which an answer is given


def believed(evidence: Evidence, prior: Prior | None = PRIOR) -> tuple[float, float]:
    """The mean and the standard deviation of a gain after it was measured; without a prior, what
    was measured.
    """
    if prior is None:
        return evidence.gain, evidence.error
    mean, spread = prior.of(evidence)
    weight = spread**2 / (spread**2 + evidence.error**2)
    return mean + weight * (evidence.gain - mean), float(np.sqrt(weight)) * evidence.error


def believed_gain(gains: Gains, method: str, weights: Matrix | None = None) -> Interval:
    """What is believed of the gain of a method."""
    return _interval(*believed(evidence_of(gains, method, weights), _prior(gains)))


def answer_of(mean: float, spread: float) -> Answer:
    """Yes if a gain is likely and harm is not; no if a gain that makes a difference is unlikely."""
    if ndtr(mean / spread) >= YES and ndtr((-MARGIN - mean) / spread) <= HARM:
        return "yes"
    return "no" if ndtr((mean - MARGIN) / spread) <= NO else "cannot tell"


def judge(gains: Gains, weights: Matrix | None = None) -> Verdict:
    """The verdict on the method of which the largest gain is believed. weights: of the held-out
    rows, if the classes have other shares among the unlabeled rows.
    """
    if not gains.methods:
        raise InputError(f"no method could be trained: {next(iter(gains.failed.values()))}")
    prior = _prior(gains)
    every = {name: evidence_of(gains, name) for name in gains.methods}
    method = max(every, key=lambda name: believed(every[name], prior)[0])
    found = every[method]
    mean, spread = believed(found, prior)
    answer, there = answer_of(mean, spread), None
    if weights is not None:
        there = believed_gain(gains, method, weights)
    return Verdict(
        answer,
        method,
        gains.alone,
        gain=_interval(mean, spread),
        measured=difference(found.gain, found.error, found.labels),
        helps=float(ndtr(mean / spread)),
        harms=float(ndtr((-MARGIN - mean) / spread)),
        apart=found.apart,
        there=there,
        labels=_labels(mean, found) if answer == "cannot tell" else None,
    )


def _prior(gains: Gains) -> Prior | None:
    """It was learned for accuracy; of another score only what was measured is believed."""
    return PRIOR if gains.score == "accuracy" else None


def _interval(mean: float, spread: float) -> Interval:
    return Interval(mean, mean - _Z * spread, mean + _Z * spread)


def _labels(mean: float, found: Evidence) -> int:
    """How many labels would tell whether there is a gain, or a harm, of the size that is believed
    or of the MARGIN; more than there are.
    """
    size = max(abs(mean), MARGIN)
    return math.ceil(max(labels_to_see(size, max(found.apart, size)), found.labels + 1))
