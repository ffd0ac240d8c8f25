"""Which rows to label next, if the labels are too few to tell whether unlabeled rows help."""

import numpy as np
import pandas as pd

from robustssl.audits.audit import Audit, probability
from robustssl.audits.folds import Codes, Matrix
from robustssl.audits.rows import take
from robustssl.errors import InputError


def label_next(audit: Audit, count: int) -> pd.DataFrame:
    """At most so many unlabeled rows: their numbers, all their columns, and a target to fill in.

    A label tells the two best models apart only if they answer the row differently, and belongs to
    the question only if the row is consistent. So rows say as much as is the share of folds in
    which the two differ, times the probability that the row is consistent. Rows that say nothing
    are not among those to label.
    """
    if count < 1:
        raise InputError(f"the number of rows to label must be at least 1, got {count}")
    pair, gains = audit.pair, audit.gains
    assert pair.source is not None  # the pair was read
    assert pair.rows is not None  # and sampled
    mine, theirs = (gains.answers[name] for name in (audit.verdict.method, audit.verdict.baseline))
    consistent = 1 - probability(pair, audit.inconsistency.mixture)[gains.asked]
    say = (mine != theirs).mean(0) * consistent
    rows = gains.asked[say > 0]
    X = audit.model.encode(take(pair.unlabeled, rows)) if len(rows) else np.empty((0, 1))
    chosen = rows[far_apart(X, say[say > 0], count)]
    frame = pair.source.iloc[chosen].copy()
    frame.insert(0, "row", pair.rows[chosen], allow_duplicates=True)
    frame[audit.target or "class"] = ""
    return frame


def far_apart(X: Matrix, say: Matrix, count: int) -> Codes:
    """The places of at most so many rows X, one after the other: the row that says most, times its
    distance to the nearest of those before. So there are no two equal rows.
    """
    chosen: list[int] = []
    value = say
    while len(chosen) < count and value.max(initial=0) > 0:
        chosen.append(int(value.argmax()))
        distance = np.linalg.norm(X - X[chosen[-1]], axis=1)
        value = say * distance if len(chosen) == 1 else np.minimum(value, say * distance)
    return np.array(chosen, np.intp)
