"""The contracts of an environment's pools: which rows may be in which."""

import itertools

import numpy as np

from robustssl.checks._case import LABELS, Case
from robustssl.checks._contracts import require
from robustssl.data import contents
from robustssl.splits import prepare


def disjoint(case: Case) -> None:
    for t, split in case.raw.items():
        rows = np.concatenate([split.rows, split.test_rows, case.pools.aside])
        require(len(set(rows)) == len(rows), f"rows are used twice at t = {t}")


def contents_are_disjoint(case: Case) -> None:
    """In the dataset no labeled, test, unlabeled or set-aside row holds what a row of another group
    holds; and no unlabeled row comes to hold what a labeled or a test row holds.
    """
    if case.prepared.environment.scales:
        return
    X, labeled = case.pools.data.X, len(case.pools.labeled)
    for t, split in case.raw.items():
        rows = {
            "a labeled": split.rows[:labeled],
            "a test": split.test_rows,
            "an unlabeled": split.rows[labeled:],
            "a set-aside": case.pools.aside,
        }
        whole = {name: {*contents(X[part])} if len(part) else set() for name, part in rows.items()}
        for (one, mine), (other, theirs) in itertools.combinations(whole.items(), 2):
            require(not mine & theirs, f"{one} row and {other} row hold the same at t = {t}")
        seen = {*contents(split.X[labeled:])}
        for name in ("a labeled", "a test"):
            require(not seen & whole[name], f"an unlabeled row holds what {name} row holds")


def few_labels_are_among_many(case: Case) -> None:
    """With fewer labels the test rows are the same, and the labeled rows are among those of more
    labels.
    """
    if case.prepared.environment.scales:
        return
    fewer = prepare(case.dataset, case.spec, LABELS - 1, 0).pools
    require(np.array_equal(fewer.test, case.pools.test), "test rows depend on the number of labels")
    new = np.setdiff1d(fewer.labeled, case.pools.labeled)
    require(not len(new), "with fewer labels other rows are labeled")


def test_and_consistent_rows_are_like_the_labeled(case: Case) -> None:
    """They have the classes of the labeled rows and, where labeled and test rows share one domain,
    that domain.
    """
    data, labeled = case.pools.data, case.pools.labeled
    for name in ("test", "consistent"):
        rows = getattr(case.pools, name)
        unknown = np.setdiff1d(data.y[rows], data.y[labeled])
        require(not len(unknown), f"the {name} rows have classes that have no labels")
    test = case.pools.test
    if data.domain is not None and len(set(data.domain[np.concatenate([labeled, test])])) == 1:
        others = set(data.domain[case.pools.consistent]) - set(data.domain[labeled])
        require(not others, "consistent rows come from another domain than the labeled ones")
