"""What speaks for and against a method: its measured gain, and what is known without any label."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from robustssl.audits.bench import REPEATS, Matrix
from robustssl.audits.gains import Gains
from robustssl.audits.resampling import SHARED, error_of, samples
from robustssl.audits.trials import Rows

PSEUDO = 2  # rows that are added to those of which the variance of a gain is estimated


@dataclass(frozen=True)
class Evidence:
    """Of a method beside the best baseline.

    gain: measured on held-out rows; error: its standard error. apart: the share of unlabeled rows
    that the two answer differently. steadier: by how much less the answers of the method depend on
    which labels it was given than those of the baseline. agreed: by how much more often its answers
    are those of the other learners. labels: how many there are. missed: the share of held-out rows
    that the baseline answers wrongly. auroc: how well a forest tells unlabeled from labeled rows.
    """

    gain: float
    error: float
    apart: float
    steadier: float
    agreed: float
    labels: int
    missed: float
    auroc: float


def evidence_of(gains: Gains, method: str, auroc: float, weights: Matrix | None = None) -> Evidence:
    """The evidence, with held-out rows weighted, if they are to stand for other rows."""
    baseline, n = gains.alone, len(gains.y)
    mine, theirs = gains.answers[method], gains.answers[baseline]
    apart = float((mine != theirs).mean())
    W = np.ones((1, n)) if weights is None else weights[None]
    gain, drawn = (
        gains.scores(method, rows) - gains.scores(baseline, rows) for rows in (W, samples(n) * W)
    )
    # Rows that differ are few, so the variance is drawn towards what unlabeled rows say of it.
    more = PSEUDO * apart / n**2
    others = [answers for name, answers in gains.answers.items() if name not in (method, baseline)]
    agreed = [(mine == answers).mean() - (theirs == answers).mean() for answers in others]
    return Evidence(
        gain=float(gain[0]),
        error=float(np.sqrt(error_of(drawn) ** 2 + SHARED * more)),
        apart=apart,
        steadier=_swing(theirs) - _swing(mine),
        agreed=float(np.mean(agreed)) if agreed else 0.0,
        labels=n,
        missed=float(1 - gains.right(baseline).mean()),
        auroc=auroc,
    )


def _swing(answers: Rows) -> float:
    """How often the models of two folds of one repeat answer differently."""
    repeats = np.array_split(answers, REPEATS)
    pairs = [pair for repeat in repeats for pair in combinations(repeat, 2)]
    return float(np.mean([(a != b).mean() for a, b in pairs])) if pairs else 0.0
