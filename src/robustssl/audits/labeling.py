"""Which rows to label next, if the labels are too few to tell whether unlabeled rows help."""

import numpy as np
import pandas as pd

from robustssl.audits.audit import Audit, probability
from robustssl.errors import InputError


def label_next(audit: Audit, count: int) -> pd.DataFrame:
    """At most so many unlabeled rows: their numbers, all their columns, and a target to fill in.

    They are drawn at random, a row by the probability that it is consistent, and one of several
    equal rows. Rows on which the two best models disagree would say more of their difference, but
    are no sample of all rows, and settled fewer cases: experiments/label_next.py.
    """
    if count < 1:
        raise InputError(f"the number of rows to label must be at least 1, got {count}")
    pair = audit.pair
    assert pair.source is not None  # the pair was read
    assert pair.rows is not None  # and sampled
    consistent = 1 - probability(pair, audit.inconsistency.mixture)
    if isinstance(pair.unlabeled, pd.DataFrame):
        consistent[pair.unlabeled.duplicated()] = 0
    count = min(count, int((consistent > 0).sum()))
    share = consistent / consistent.sum() if count else None
    chosen = np.random.default_rng(0).choice(len(consistent), count, replace=False, p=share)
    frame = pair.source.iloc[chosen].copy()
    frame.insert(0, "row", pair.rows[chosen], allow_duplicates=True)
    frame[audit.target or "class"] = ""
    return frame
