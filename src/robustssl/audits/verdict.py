"""The answer of an audit: yes, no, or cannot tell."""

from dataclasses import dataclass
from typing import Literal

from robustssl.analysis.interval import Interval
from robustssl.analysis.labels import Labels

Answer = Literal["yes", "no", "cannot tell"]


@dataclass(frozen=True)
class Verdict:
    """Whether to use the unlabeled rows.

    method, baseline: the learners that are compared, the best with and without unlabeled rows.
    gain: of the method over the baseline, as believed after it was measured. measured: by
    cross-validation alone. helps, harms: the probabilities that the gain is above 0, and that it is
    a loss of more than MARGIN. labels: if the answer is `cannot tell`, how many labels in all would
    tell. worth: what the gain is worth in labels; None if it is not known.
    """

    answer: Answer
    method: str
    baseline: str
    gain: Interval
    measured: Interval
    helps: float
    harms: float
    labels: int | None = None
    worth: Labels | None = None
