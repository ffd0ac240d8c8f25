"""The contracts of an environment: a curve moves because of t, and for no other reason."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from robustssl import registry
from robustssl.checks._case import TS, Case, case
from robustssl.checks._contracts import equal, require, verdicts
from robustssl.checks._pools import (
    contents_are_disjoint,
    disjoint,
    few_labels_are_among_many,
    test_and_consistent_rows_are_like_the_labeled,
)
from robustssl.data import UNLABELED, as_array, digest
from robustssl.environments import count
from robustssl.execution.engines.processes import clean_start, pool_of
from robustssl.preprocessing import preprocessing


def shares_of_the_classes_move_in_proportion_to_t(case: Case) -> None:
    """Up to rounding, the unlabeled rows at t have the class shares of the consistent rows times
    1 - t, and those of the inconsistent rows times t.
    """
    pools, y = case.pools, case.pools.data.y
    if case.by_column:
        return
    classes, n = int(y.max()) + 1, len(pools.inconsistent)
    before, after = (
        np.bincount(y[rows], minlength=classes) for rows in (pools.consistent, pools.inconsistent)
    )
    adds = case.prepared.environment.mix == "add"
    for t, rows in case.unlabeled.items():
        share = count(t, n) / n
        expected = (1.0 if adds else 1 - share) * before + share * after
        found = np.bincount(y[rows], minlength=classes)
        worst = int(np.abs(found - expected).argmax())
        require(
            abs(found[worst] - expected[worst]) <= 2 + classes,
            f"{found[worst]} unlabeled rows are of class {pools.data.class_name(worst)} at t = {t},"
            f" not about {expected[worst]:.0f}",
        )


def labeled_and_test_rows_do_not_move(case: Case) -> None:
    first, labeled = case.raw[0.0], len(case.pools.labeled)
    for t, split in case.raw.items():
        same = np.array_equal(split.test_rows, first.test_rows)
        same &= equal(split.X_test, first.X_test) and np.array_equal(split.y_test, first.y_test)
        require(same, f"the test set at t = {t} is not that of t = 0")
        same = np.array_equal(split.rows[:labeled], first.rows[:labeled])
        same &= equal(split.X[:labeled], first.X[:labeled])
        require(same, f"the labeled rows at t = {t} are not those of t = 0")


def rows_are_what_they_were(case: Case) -> None:
    """Labeled, test and consistent rows equal those of the dataset; an inconsistent row is the same
    at every t.
    """
    if case.prepared.environment.scales:
        return
    data, seen = case.pools.data, dict[int, Any]()
    for t, split in case.raw.items():
        same = equal(split.X_test, data.X[split.test_rows])
        same &= equal(split.y_test, data.y[split.test_rows])
        require(same, f"a test row at t = {t} differs from the dataset")
        labeled = slice(len(case.pools.labeled))
        same = equal(split.X[labeled], data.X[split.rows[labeled]])
        same &= equal(split.y[labeled], data.y[split.rows[labeled]])
        require(same, f"a labeled row at t = {t} differs from the dataset")
        if case.by_column:
            continue
        changed = np.isin(split.rows, case.pools.inconsistent)
        same = equal(split.X[~changed], data.X[split.rows[~changed]])
        require(same, f"a consistent row at t = {t} differs from the dataset")
        for row, x in zip(split.rows[changed], split.X[changed], strict=True):
            same = np.array_equal(seen.setdefault(int(row), x), x)
            require(same, f"an inconsistent row is different at t = {t}")


def nested(case: Case) -> None:
    """From one t to the next, no consistent row comes back and no inconsistent row leaves."""
    consistent, inconsistent = set(case.pools.consistent), set(case.pools.inconsistent)
    if case.by_column:
        return
    before: tuple[set[int], set[int]] | None = None
    for t, rows in case.unlabeled.items():
        now = set(rows) & consistent, set(rows) & inconsistent
        if before:
            require(now[0] <= before[0], f"a consistent row comes back at t = {t}")
            require(now[1] >= before[1], f"an inconsistent row leaves at t = {t}")
        before = now


def counts(case: Case) -> None:
    """Of n rows ceil(t n) are inconsistent. With mix=replace the number of unlabeled rows is
    constant, with mix=add it grows by the inconsistent ones.
    """
    mix, n = case.prepared.environment.mix, len(case.pools.inconsistent)
    for t, rows in case.unlabeled.items():
        found = int(np.isin(rows, case.pools.inconsistent).sum())
        expected = n if case.by_column else count(t, n)
        require(found == expected, f"{found} rows are inconsistent at t = {t}, not {expected}")
        total = len(case.pools.consistent) + (count(t, n) if mix == "add" else 0)
        require(len(rows) == total, f"there are {len(rows)} unlabeled rows at t = {t}, not {total}")


def columns_are_lost(case: Case) -> None:
    """Where features go missing: of d features ceil(t d) are lost, and a lost one never returns."""
    if not case.by_column:
        return
    data, labeled = case.pools.data, len(case.pools.labeled)
    gone: set[int] = set()
    for t, split in case.raw.items():
        mean = data.X[case.pools.labeled].mean(0)
        flat = np.flatnonzero(np.isclose(split.X[labeled:], mean).all(0))
        varied = [c for c in range(data.X.shape[1]) if np.ptp(data.X[case.pools.consistent, c]) > 0]
        lost = {int(c) for c in flat if c in varied}
        require(lost >= gone, f"a lost feature is back at t = {t}")
        if len(varied) == data.X.shape[1]:
            expected = count(t, data.X.shape[1])
            require(
                len(lost) == expected, f"{len(lost)} features are lost at t = {t}, not {expected}"
            )
        gone = lost


def no_label_leaves(case: Case) -> None:
    labeled = len(case.pools.labeled)
    for t, split in case.raw.items():
        require((split.y[labeled:] == UNLABELED).all(), f"a hidden label is shown at t = {t}")


def preprocessing_sees_neither_t_nor_test(case: Case) -> None:
    """It depends on the labeled rows and the unlabeled rows at t = 0, and on no others."""
    data, seen = case.pools.data, case.raw[0.0]
    fitted = preprocessing(data.X[seen.rows], data.kind, data.encoder)
    expected = fitted.transform(seen.X_test)
    for t in TS:
        got = case.prepared.split(t).X_test
        require(
            np.allclose(got, expected),
            f"at t = {t} preprocessing depends on other rows",
        )


def the_same_in_another_process(case: Case) -> None:
    digests = _digests(case)
    arguments = (case.spec, case.dataset)
    with clean_start(), pool_of(1) as pool:
        require(
            pool.submit(_digests_there, *arguments).result() == digests,
            "another process makes other splits",
        )


def _digests(case: Case) -> list[str]:
    """One digest per t, of row numbers and of what the rows hold."""
    splits = case.raw.values()
    return [digest(as_array(split.X), split.rows, split.y, split.test_rows) for split in splits]


def _digests_there(spec: str, dataset: str) -> list[str]:
    return _digests(case(spec, dataset))


ENVIRONMENT: tuple[Callable[[Case], None], ...] = (
    disjoint,
    contents_are_disjoint,
    few_labels_are_among_many,
    shares_of_the_classes_move_in_proportion_to_t,
    labeled_and_test_rows_do_not_move,
    rows_are_what_they_were,
    test_and_consistent_rows_are_like_the_labeled,
    nested,
    counts,
    columns_are_lost,
    no_label_leaves,
    preprocessing_sees_neither_t_nor_test,
    the_same_in_another_process,
)


def check_environment(spec: str, dataset: str) -> Iterator[tuple[str, str | None]]:
    """The name of every contract and, if it is broken, what is wrong."""
    yield from verdicts(ENVIRONMENT, case(registry.canonical("environment", spec), dataset))
