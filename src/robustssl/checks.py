"""The public contracts: what an algorithm, an environment or a dataset must hold, each in a
sentence.

A check raises `BrokenContractError` with the sentence that does not hold. The tests run them over
everything that comes with robustssl, `robustssl check NAME` over anybody's own.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, cast, get_args

import numpy as np
from scipy.stats import t as student_t
from sklearn.base import clone
from sklearn.datasets import make_moons

from robustssl import registry
from robustssl.data import UNLABELED, Dataset, Pools, Split, as_array, digest
from robustssl.engines.local import clean_start
from robustssl.environments import count
from robustssl.errors import InputError, unknown
from robustssl.features import fit_preprocessing
from robustssl.worker import Prepared, prepare

TS = (0.0, 0.1, 0.35, 0.5, 0.8, 1.0)


class BrokenContractError(AssertionError):
    """A contract that does not hold, in a sentence."""


def require(holds: Any, sentence: str) -> None:
    if not holds:
        raise BrokenContractError(sentence)


@dataclass(frozen=True)
class Case:
    """An environment on a dataset, split at every t of a grid."""

    spec: str
    dataset: str
    prepared: Prepared
    raw: dict[float, Split]

    @property
    def pools(self) -> Pools:
        return self.prepared.pools

    @property
    def unlabeled(self) -> dict[float, Any]:
        labeled = len(self.pools.labeled)
        return {t: split.rows[labeled:] for t, split in self.raw.items()}

    @property
    def by_column(self) -> bool:
        return self.pools.by_column


def case(spec: str, dataset: str, labels: int = 3, seed: int = 0) -> Case:
    if "access" in registry.parse(spec)[1]:
        raise InputError("access shows a learner less, or more, by design: check without it")
    prepared = prepare(dataset, spec, labels, seed)
    raw = {t: prepared.environment.split(prepared.pools, t) for t in TS}
    return Case(spec, dataset, prepared, raw)


def disjoint(case: Case) -> None:
    for t, split in case.raw.items():
        rows = np.concatenate([split.rows, split.test_rows, case.pools.aside])
        require(len(set(rows)) == len(rows), f"rows are used twice at t = {t}")


def labeled_and_test_rows_do_not_move(case: Case) -> None:
    first, labeled = case.raw[0.0], len(case.pools.labeled)
    for t, split in case.raw.items():
        same = np.array_equal(split.test_rows, first.test_rows)
        same &= _equal(split.X_test, first.X_test) and np.array_equal(split.y_test, first.y_test)
        require(same, f"the test set at t = {t} is not that of t = 0")
        same = np.array_equal(split.rows[:labeled], first.rows[:labeled])
        same &= _equal(split.X[:labeled], first.X[:labeled])
        require(same, f"the labeled rows at t = {t} are not those of t = 0")


def rows_are_what_they_were(case: Case) -> None:
    """Labeled, test and consistent rows are the dataset's; what is left of an inconsistent one does
    not depend on t.
    """
    if case.prepared.environment.scales:
        return
    data, left = case.pools.data, dict[int, Any]()
    for t, split in case.raw.items():
        same = _equal(split.X_test, data.X[split.test_rows])
        same &= _equal(split.y_test, data.y[split.test_rows])
        require(same, f"a test row at t = {t} is not the dataset's")
        labeled = slice(len(case.pools.labeled))
        same = _equal(split.X[labeled], data.X[split.rows[labeled]])
        same &= _equal(split.y[labeled], data.y[split.rows[labeled]])
        require(same, f"a labeled row at t = {t} is not the dataset's")
        if case.by_column:
            continue
        foreign = np.isin(split.rows, case.pools.inconsistent)
        same = _equal(split.X[~foreign], data.X[split.rows[~foreign]])
        require(same, f"a consistent row at t = {t} is not the dataset's")
        for row, x in zip(split.rows[foreign], split.X[foreign], strict=True):
            same = np.array_equal(left.setdefault(int(row), x), x)
            require(same, f"an inconsistent row looks otherwise at t = {t}")


def test_and_consistent_rows_are_like_the_labeled(case: Case) -> None:
    """Of their classes and, where those are of one domain, of that domain."""
    data, labeled = case.pools.data, case.pools.labeled
    for name in ("test", "consistent"):
        rows = getattr(case.pools, name)
        strange = np.setdiff1d(data.y[rows], data.y[labeled])
        require(not len(strange), f"the {name} rows have classes that have no labels")
    test = case.pools.test
    if data.domain is not None and len(set(data.domain[np.concatenate([labeled, test])])) == 1:
        foreign = set(data.domain[case.pools.consistent]) - set(data.domain[labeled])
        require(not foreign, "consistent rows come from another domain than the labeled ones")


def nested(case: Case) -> None:
    """From one t to the next, rows are only replaced: what came stays, what went is gone."""
    clean, dirty = set(case.pools.consistent), set(case.pools.inconsistent)
    if case.by_column:
        return
    before: tuple[set[int], set[int]] | None = None
    for t, rows in case.unlabeled.items():
        now = set(rows) & clean, set(rows) & dirty
        if before:
            require(now[0] <= before[0], f"a consistent row comes back at t = {t}")
            require(now[1] >= before[1], f"an inconsistent row goes at t = {t}")
        before = now


def counts(case: Case) -> None:
    """ceil(t n) of n rows are inconsistent; their number is constant, or grows by them alone."""
    mix, n = case.prepared.environment.mix, len(case.pools.inconsistent)
    for t, rows in case.unlabeled.items():
        foreign = int(np.isin(rows, case.pools.inconsistent).sum())
        expected = n if case.by_column else count(t, n)
        require(foreign == expected, f"{foreign} rows are inconsistent at t = {t}, not {expected}")
        total = len(case.pools.consistent) + (count(t, n) if mix == "add" else 0)
        require(len(rows) == total, f"there are {len(rows)} unlabeled rows at t = {t}, not {total}")


def columns_are_lost(case: Case) -> None:
    """Where features go missing: ceil(t d) of them, and what is lost stays lost."""
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
    """It is that of the labeled rows and the unlabeled ones of t = 0."""
    data, seen = case.pools.data, case.raw[0.0]
    encoder = data.meta.get("encoder", "tfidf")
    expected = fit_preprocessing(data.X[seen.rows], data.kind, encoder)(seen.X_test)
    for t in TS:
        got = case.prepared.split(t).X_test
        require(np.allclose(got, expected), f"preprocessing at t = {t} has seen more than it may")


def the_same_in_another_process(case: Case) -> None:
    digests = _digests(case)
    arguments = (case.spec, case.dataset)
    with (
        clean_start(),
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
    ):
        require(
            pool.submit(_digests_there, *arguments).result() == digests,
            "another process splits otherwise",
        )


def _digests(case: Case) -> list[str]:
    """Of the rows, and of what is left of them."""
    splits = case.raw.values()
    return [digest(as_array(split.X), split.rows, split.y, split.test_rows) for split in splits]


def _digests_there(spec: str, dataset: str) -> list[str]:
    return _digests(case(spec, dataset))


ENVIRONMENT: tuple[Callable[[Case], None], ...] = (
    disjoint,
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
    """Every contract by name, and what does not hold, or None."""
    yield from _verdicts(ENVIRONMENT, case(registry.canonical("environment", spec), dataset))


def is_named_and_owned(data: Dataset) -> None:
    lacking = {"classes", "owner", "licence"} - set(data.meta)
    require(not lacking, f"its meta lacks {', '.join(sorted(lacking))}")
    found = len(np.unique(data.y))
    require(len(data.meta["classes"]) == found, f"it names other than its {found} classes")


def every_class_can_be_learned(data: Dataset) -> None:
    found = len(np.unique(data.y))
    require(found >= 2, f"it has {found} class, and one cannot be told from another")
    least = int(np.bincount(data.y).min())
    require(
        least >= 3, f"a class has {least} rows; a label, a test and an unlabeled row make three"
    )


DATASET: tuple[Callable[[Dataset], None], ...] = (
    is_named_and_owned,
    every_class_can_be_learned,
)


def check_dataset(spec: str) -> Iterator[tuple[str, str | None]]:
    yield from _verdicts(DATASET, registry.dataset(registry.canonical("dataset", spec)))


@dataclass(frozen=True)
class Learner:
    """An algorithm by its spec; made anew for every fit."""

    spec: str

    @property
    def supervised(self) -> bool:
        return bool(getattr(registry.algorithm(registry.parse(self.spec)[0]), "supervised", False))

    def fit(self, X: Any, y: Any, seed: int = 0) -> Any:
        return _estimator(self.spec, seed).fit(X, y)


def _estimator(spec: str, seed: int) -> Any:
    name, options = registry.parse(spec)
    model = registry.estimator(name, **options)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model


Task = tuple[Any, Any, Any, Any]


def blobs(seed: int, rows: int = 300, labels: int = 15, test: int = 1000) -> Task:
    """X, y, X_test, y_test: three round clusters in eight dimensions; y is -1 but for a few."""
    rng = np.random.default_rng(seed)
    centres, truth = rng.normal(size=(3, 8)), np.arange(rows + test) % 3
    return _task(centres[truth] + rng.normal(size=(rows + test, 8)), truth, rows, labels)


def moons(seed: int, rows: int = 200, labels: int = 4, test: int = 1000) -> Task:
    """Two half-moons, the one in the arms of the other."""
    X, truth = make_moons(rows + test, noise=0.1, random_state=seed)
    return _task(X, truth, rows, labels)


def _task(X: Any, truth: Any, rows: int, labels: int) -> Task:
    X = (X - X[:rows].mean(0)) / X[:rows].std(0)
    y = np.full(rows, UNLABELED)
    for k in np.unique(truth):
        y[np.flatnonzero(truth[:rows] == k)[:labels]] = k
    return X[:rows], y, X[rows:], truth[rows:]


def is_a_classifier(learner: Learner) -> None:
    X, y, probe, _ = blobs(0)
    model = _estimator(learner.spec, seed=0)
    before = model.get_params()
    require(model.fit(X, y) is model, "fit does not return the estimator")
    require(model.get_params() == before, "fit changes a parameter")
    predicted = np.asarray(model.predict(probe))
    require(set(predicted) <= {0, 1, 2}, "it predicts a class that no label names")
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(probe)
        require(p.shape == (len(probe), 3), f"probabilities have the shape {p.shape}")
        require(np.allclose(p.sum(1), 1) and (p >= 0).all(), "probabilities do not sum to 1")
        require(_equal(predicted, model.classes_[p.argmax(1)]), "it predicts not the likeliest")
    again = np.asarray(clone(model).fit(X, y).predict(probe))
    require(_equal(predicted, again), "a second fit with the same seed predicts otherwise")


def takes_labels_of_any_type(learner: Learner) -> None:
    X, y, probe, _ = blobs(0)
    words = np.array(["c", "b", "a"], object)  # their order is another one
    named = np.where(y == UNLABELED, UNLABELED, words[y])
    got = np.asarray(learner.fit(X, named).predict(probe))
    require(set(got) <= set(words), "with strings for labels it predicts something else")
    coded = np.where(y == UNLABELED, UNLABELED, 2 - y)  # the order of the words
    expected = words[2 - np.asarray(learner.fit(X, coded).predict(probe))]
    require(_equal(got, expected), "with strings for labels it predicts otherwise")


def has_an_answer_in_every_case(learner: Learner) -> None:
    for case_, (X, y) in _odd_cases().items():
        probe = np.vstack([X, 1e3 * X[:5]])
        try:
            model = learner.fit(X, y)
            predicted = np.asarray(model.predict(probe))
        except Exception as error:
            raise BrokenContractError(f"{case_}: {type(error).__name__}: {error}") from error
        require(set(predicted) <= set(y[y != UNLABELED]), f"{case_}: it predicts no known class")
        if hasattr(model, "predict_proba"):
            require(np.isfinite(model.predict_proba(probe)).all(), f"{case_}: p is not finite")


def _odd_cases() -> dict[str, tuple[Any, Any]]:
    X, y, _, _ = blobs(1, rows=90, labels=5)
    labeled, last, rng = y != UNLABELED, np.arange(90) == 89, np.random.default_rng(0)
    constant, far = X.copy(), X.copy()
    constant[:, ::2] = 3.0
    far[~labeled] *= 1e6
    single = y.copy()
    single[np.flatnonzero(y == 2)[1:]] = UNLABELED
    islands = 20 * rng.normal(size=(30, 8))[rng.integers(30, size=300)]
    strangers = np.vstack([X[labeled], islands + rng.normal(size=(300, 8))])
    unknown_y = np.concatenate([y[labeled], np.full(300, UNLABELED)])
    return {
        "no unlabeled rows": (X[labeled], y[labeled]),
        "one unlabeled row": (X[labeled | last], y[labeled | last]),
        "one class": (X, np.where(y > 0, UNLABELED, y)),
        "a class with one label": (X, single),
        "constant features": (constant, y),
        "nothing but constant features": (np.ones_like(X), y),
        "one feature": (X[:, :1], y),
        "duplicated rows": (np.vstack([X, X, X]), np.concatenate([y, y, y])),
        "far-away unlabeled rows": (far, y),
        "ten times as many unlabeled classes": (strangers, unknown_y),
    }


def refuses_what_is_not_a_number(learner: Learner) -> None:
    for value in (np.nan, np.inf):
        X, y, _, _ = blobs(0, rows=90)
        X[7, 3] = value
        try:
            learner.fit(X, y)
        except ValueError:
            continue
        require(False, f"it takes {value} for a number")


def names_its_baseline(learner: Learner) -> None:
    """And is it, where there are no unlabeled rows."""
    baseline = registry.matched_baseline(learner.spec)
    if learner.supervised:
        require(baseline is None, "it is supervised, and names a baseline")
        return
    if baseline is None:
        raise BrokenContractError("it names no baseline: give it the attribute `baseline`")
    require(Learner(baseline).supervised, f"its baseline {baseline} is not supervised")
    X, y, probe, _ = blobs(0)
    X, y = X[y != UNLABELED], y[y != UNLABELED]
    alone = learner.fit(X, y).predict(probe)
    require(
        _equal(alone, Learner(baseline).fit(X, y).predict(probe)),
        "without unlabeled rows it is not its baseline",
    )


def sees_its_unlabeled_rows(learner: Learner) -> None:
    """Other unlabeled rows, other predictions, for one of several draws; for a supervised one, in
    none.
    """
    X, y, _, _ = blobs(0)
    probe = np.random.default_rng(9).uniform(-3, 3, size=(2000, X.shape[1]))
    free, predictions = y == UNLABELED, []
    for draw in range(4):
        other = X.copy()
        other[free] = blobs(draw + 1)[0][free] + 0.2 * draw
        predictions.append(np.asarray(learner.fit(other, y).predict(probe)))
    alive = any(not _equal(p, predictions[0]) for p in predictions)
    if learner.supervised:
        require(not alive, "it is called supervised, and unlabeled rows change its predictions")
    else:
        require(alive, "it is dead: whatever the unlabeled rows are, it predicts the same")


SEEDS, MARGIN = 20, 0.01


def is_not_worse_than_its_baseline(learner: Learner) -> None:
    """On well-separated blobs, where unlabeled rows should help: the one-sided 95% bound of the
    mean gain over 20 seeds is above -.01.
    """
    if learner.supervised:
        return
    bound = least_gain(learner.spec, blobs)
    require(bound > -MARGIN, f"it may be {-bound:.3f} worse than its baseline on blobs")


def least_gain(spec: str, task: Callable[[int], Task]) -> float:
    """The lower end of the one-sided 95% interval of the gain over the baseline, paired by seed."""
    baseline = registry.matched_baseline(spec)
    if baseline is None:
        raise BrokenContractError("it names no baseline: give it the attribute `baseline`")
    gains = []
    for seed in range(SEEDS):
        X, y, X_test, y_test = task(seed)
        ours, theirs = (Learner(which).fit(X, y, seed) for which in (spec, baseline))
        right = [np.mean(model.predict(X_test) == y_test) for model in (ours, theirs)]
        gains.append(right[0] - right[1])
    spread = np.std(gains, ddof=1) / np.sqrt(SEEDS)
    return float(np.mean(gains) + student_t.ppf(0.05, SEEDS - 1) * spread)


ALGORITHM: tuple[Callable[[Learner], None], ...] = (
    is_a_classifier,
    takes_labels_of_any_type,
    has_an_answer_in_every_case,
    refuses_what_is_not_a_number,
    names_its_baseline,
    sees_its_unlabeled_rows,
    is_not_worse_than_its_baseline,
)


def check_algorithm(spec: str) -> Iterator[tuple[str, str | None]]:
    """Every contract by name, and what does not hold, or None."""
    yield from _verdicts(ALGORITHM, Learner(registry.canonical("algorithm", spec)))


def _verdicts(checks: Any, subject: Any) -> Iterator[tuple[str, str | None]]:
    for check in checks:
        try:
            check(subject)
            yield check.__name__.replace("_", " "), None
        except BrokenContractError as broken:
            yield check.__name__.replace("_", " "), str(broken)


def _equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))


def kind_of(name: str) -> registry.Kind:
    """Whether a name is that of an algorithm, an environment or a dataset."""
    plain, _ = registry.parse(name)
    kinds = get_args(registry.Kind)
    for kind in kinds:
        if all(part in registry.names(kind) for part in plain.split("+")):
            return cast(registry.Kind, kind)
    if ":" not in plain:
        every = [known for kind in kinds for known in registry.names(kind)]
        raise unknown("algorithm, environment or dataset", plain, every)
    found = registry.find("dataset", plain)
    if not isinstance(found, type):
        return "dataset"
    return "algorithm" if hasattr(found, "fit") else "environment"
