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
    labels. What is not known is None.
    """

    answer: Answer
    method: str
    baseline: str
    gain: Interval
    measured: Interval
    helps: float
    harms: float
    there: Interval | None = None
    labels: int | None = None
    worth: Labels | None = None


@dataclass(frozen=True)
class Prior:
    """What is believed of a gain before it is measured: it is normal with a mean that is linear in
    the evidence, and with a standard deviation that grows with the rows that are answered
    differently.
    """

    apart: float
    steadier: float
    agreed: float
    unlike: float
    spread: float
    least: float

    def of(self, evidence: Evidence) -> tuple[float, float]:
        """The mean and the standard deviation."""
        unlike = max(evidence.auroc - 0.5, 0.0)
        mean = (
            (self.apart + self.unlike * unlike) * evidence.apart
            + self.steadier * evidence.steadier
            + self.agreed * evidence.agreed
        )
        return mean, float(np.hypot(self.least, self.spread * evidence.apart))


# Chosen on the tuning half of the tables of experiments/audits.py, by maximum likelihood.
PRIOR = Prior(apart=0.0, steadier=0.0, agreed=0.0, unlike=0.0, spread=0.4, least=0.005)
YES, NO, HARM = 0.8, 0.1, 0.05  # probabilities at which an answer is given, chosen there too


def believed(evidence: Evidence, prior: Prior | None = PRIOR) -> tuple[float, float]:
    """The mean and the standard deviation of a gain after it was measured; without a prior, what
    was measured.
    """
    if prior is None:
        return evidence.gain, evidence.error
    mean, spread = prior.of(evidence)
    weight = spread**2 / (spread**2 + evidence.error**2)
    return mean + weight * (evidence.gain - mean), float(np.sqrt(weight)) * evidence.error


def answer_of(mean: float, spread: float) -> Answer:
    """Yes if a gain is likely and harm is not; no if a gain that makes a difference is unlikely."""
    if ndtr(mean / spread) >= YES and ndtr((-MARGIN - mean) / spread) <= HARM:
        return "yes"
    return "no" if ndtr((mean - MARGIN) / spread) <= NO else "cannot tell"


def judge(gains: Gains, auroc: float, weights: Matrix | None = None) -> Verdict:
    """The verdict on the method of which the largest gain is believed. weights: of the held-out
    rows, if the classes have other shares among the unlabeled rows.

    The prior was learned for accuracy; of another score only what was measured is believed.
    """
    prior = PRIOR if gains.score == "accuracy" else None
    every = {name: evidence_of(gains, name, auroc) for name in gains.methods}
    method = max(every, key=lambda name: believed(every[name], prior)[0])
    found = every[method]
    mean, spread = believed(found, prior)
    there = None
    if weights is not None:
        there = _interval(*believed(evidence_of(gains, method, auroc, weights), prior))
    answer = answer_of(mean, spread)
    labels = None
    if answer == "cannot tell":
        rows = max(found.apart, abs(mean), MARGIN)
        labels = math.ceil(labels_to_see(max(abs(mean), MARGIN), rows))
    return Verdict(
        answer,
        method,
        gains.alone,
        gain=_interval(mean, spread),
        measured=difference(found.gain, found.error, found.labels),
        helps=float(ndtr(mean / spread)),
        harms=float(ndtr((-MARGIN - mean) / spread)),
        there=there,
        labels=labels and max(labels, found.labels + 1),
    )


def _interval(mean: float, spread: float) -> Interval:
    return Interval(mean, mean - _Z * spread, mean + _Z * spread)
