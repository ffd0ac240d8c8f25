"""What an algorithm must hold: it is a classifier, has an answer in every case, and is alive."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import t as student_t
from sklearn.base import clone
from sklearn.datasets import make_moons

from robustssl import registry
from robustssl.checks._contracts import BrokenContractError, equal, require, verdicts
from robustssl.data import UNLABELED
from robustssl.spec import parse

Task = tuple[Any, Any, Any, Any]


@dataclass(frozen=True)
class Learner:
    """An algorithm by its spec; made anew for every fit."""

    spec: str

    @property
    def supervised(self) -> bool:
        return bool(getattr(registry.algorithm(parse(self.spec)[0]), "supervised", False))

    def fit(self, X: Any, y: Any, seed: int = 0) -> Any:
        return _estimator(self.spec, seed).fit(X, y)

    def fit_all(self, tasks: Sequence[Task]) -> list[Any]:
        """A model for each task, its seed being its place; together, if that can be."""
        models = [_estimator(self.spec, seed) for seed in range(len(tasks))]
        if hasattr(models[0], "fit_together"):
            models[0].fit_together(models, [(X, y) for X, y, _, _ in tasks])
            return models
        return [model.fit(X, y) for model, (X, y, _, _) in zip(models, tasks, strict=True)]


def _estimator(spec: str, seed: int) -> Any:
    name, options = parse(spec)
    model = registry.estimator(name, **options)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model


def blobs(seed: int, rows: int = 300, labels: int = 15, test: int = 1000) -> Task:
    """X, y, X_test, y_test: three round clusters in eight dimensions; y is -1 but for `labels` of
    each.
    """
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
        require(equal(predicted, model.classes_[p.argmax(1)]), "it predicts not the likeliest")
    again = np.asarray(clone(model).fit(X, y).predict(probe))
    require(equal(predicted, again), "a second fit with the same seed predicts otherwise")


def takes_labels_of_any_type(learner: Learner) -> None:
    X, y, probe, _ = blobs(0)
    words = np.array(["c", "b", "a"], object)  # their order is another one
    named = np.where(y == UNLABELED, UNLABELED, words[y])
    texts = [str(label) for label in named]
    try:
        learner.fit(X, texts)
    except ValueError:
        pass
    else:
        raise BrokenContractError("it takes the string '-1' for a class")
    got = np.asarray(learner.fit(X, named).predict(probe))
    require(set(got) <= set(words), "with strings for labels it predicts something else")
    coded = np.where(y == UNLABELED, UNLABELED, 2 - y)  # the order of the words
    expected = words[2 - np.asarray(learner.fit(X, coded).predict(probe))]
    require(equal(got, expected), "with strings for labels it predicts otherwise")


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
        equal(alone, Learner(baseline).fit(X, y).predict(probe)),
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
    alive = any(not equal(p, predictions[0]) for p in predictions)
    if learner.supervised:
        require(not alive, "it is called supervised, and unlabeled rows change its predictions")
    else:
        require(alive, "it is dead: whatever the unlabeled rows are, it predicts the same")


def its_unlabeled_loss_has_a_gradient(learner: Learner) -> None:
    """Of a method that is a loss: in a net without BatchNorm, whose statistics rows would share."""
    model = _estimator(learner.spec, seed=0)
    if learner.supervised or not hasattr(model, "fit_together"):
        return
    require(unlabeled_gradient(model) > 0, "it is dead: its unlabeled loss moves no parameter")


def unlabeled_gradient(model: Any) -> float:
    """The largest norm of the gradient of the unlabeled loss in a training."""
    from robustssl.deep.estimator import unlabeled_gradients

    X, y, _, _ = blobs(0)
    model.set_params(net="mlp[width=16]")
    return max(unlabeled_gradients(model, X, y))


SEEDS, MARGIN = 20, 0.01


def is_not_worse_than_its_baseline(learner: Learner) -> None:
    """On well-separated blobs, where unlabeled rows should help: the one-sided 95% bound of the
    mean gain over 20 seeds is above -.01.
    """
    if learner.supervised:
        return
    bound = least_gain(learner.spec, blobs)
    require(bound > -MARGIN, f"it may be {-bound:.3f} worse than its baseline on blobs")


@lru_cache(maxsize=8)
def _accuracies(spec: str, task: Callable[[int], Task]) -> list[float]:
    """Of every seed; kept, for many share a baseline."""
    tasks = [task(seed) for seed in range(SEEDS)]
    models = zip(Learner(spec).fit_all(tasks), tasks, strict=True)
    return [float(np.mean(model.predict(X) == y)) for model, (_, _, X, y) in models]


@lru_cache(maxsize=16)
def _of_baseline(spec: str, task: Callable[[int], Task]) -> list[float]:
    """Which many methods share."""
    return _accuracies(spec, task)


def least_gain(spec: str, task: Callable[[int], Task]) -> float:
    """The lower end of the one-sided 95% interval of the gain over the baseline, paired by seed."""
    baseline = registry.matched_baseline(spec)
    if baseline is None:
        raise BrokenContractError("it names no baseline: give it the attribute `baseline`")
    gains = np.subtract(_accuracies(spec, task), _of_baseline(baseline, task))
    spread = np.std(gains, ddof=1) / np.sqrt(SEEDS)
    return float(np.mean(gains) + student_t.ppf(0.05, SEEDS - 1) * spread)


ALGORITHM: tuple[Callable[[Learner], None], ...] = (
    is_a_classifier,
    takes_labels_of_any_type,
    has_an_answer_in_every_case,
    refuses_what_is_not_a_number,
    names_its_baseline,
    sees_its_unlabeled_rows,
    its_unlabeled_loss_has_a_gradient,
    is_not_worse_than_its_baseline,
)


def check_algorithm(spec: str) -> Iterator[tuple[str, str | None]]:
    """Every contract by name, and what does not hold, or None."""
    yield from verdicts(ALGORITHM, Learner(registry.canonical("algorithm", spec)))
