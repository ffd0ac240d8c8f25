"""Which rows to label next: those whose labels say most about whether unlabeled rows help."""

import numpy as np
import pandas as pd

from robustssl.audits.audit import Audit, probability
from robustssl.audits.folds import Codes, Matrix
from robustssl.audits.rows import take
from robustssl.errors import InputError


def label_next(audit: Audit, count: int) -> pd.DataFrame:
    """At most so many unlabeled rows: their numbers, all their columns, and a target to fill in.

    A label tells the two best models apart only if they answer the row differently, and belongs to
    the question only if the row is consistent. So rows are taken by how often the two differ, times
    the probability that the row is consistent, times the distance to the rows taken before: twenty
    copies of a row say little more than one. Rows to which both models always give the same answer
    are not among them.
    """
    if count < 1:
        raise InputError(f"the number of rows to label must be at least 1, got {count}")
    pair, gains = audit.pair, audit.gains
    assert pair.source is not None  # the pair was read
    assert pair.rows is not None  # and sampled
    mine, theirs = (gains.answers[name] for name in (audit.verdict.method, audit.verdict.baseline))
    say = (mine != theirs).mean(0) * (
        1 - probability(pair, audit.inconsistency.mixture)[gains.asked]
    )
    rows = gains.asked[say > 0]
    chosen = rows[_apart(audit.model.encode(take(pair.unlabeled, rows)), say[say > 0], count)]
    frame = pair.source.iloc[chosen].copy()
    frame.insert(0, "row", pair.rows[chosen], allow_duplicates=True)
    frame[audit.target or "class"] = ""
    return frame


def _apart(X: Matrix, say: Matrix, count: int) -> Codes:
    """The places of at most so many rows X that say much and lie apart."""
    chosen: list[int] = []
    nearest = np.ones(len(X))
    while len(chosen) < count and (say * nearest).max(initial=0) > 0:
        chosen.append(int((say * nearest).argmax()))
        distance = np.linalg.norm(X - X[chosen[-1]], axis=1)
        nearest = distance if len(chosen) == 1 else np.minimum(nearest, distance)
    return np.array(chosen, np.intp)
