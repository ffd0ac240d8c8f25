"""The contracts of an algorithm: it is a classifier, it has an answer in every case, and the
unlabeled rows change what it predicts.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from robustssl import registry
from robustssl.checks._contracts import BrokenContractError, equal, require, verdicts
from robustssl.checks._gains import (
    does_not_collapse_on_consistent_rows,
    is_not_worse_than_its_baseline,
)
from robustssl.checks._learner import Learner, estimator
from robustssl.checks._options import (
    every_option_does_something,
    every_searched_option_does_something,
)
from robustssl.checks._toys import blobs, moons, odd_cases
from robustssl.data import UNLABELED

TRIALS = 3  # on each kind of data


def is_a_classifier(learner: Learner) -> None:
    X, y, probe, _ = blobs(0)
    model = estimator(learner.spec, seed=0)
    before = model.get_params()
    require(model.fit(X, y) is model, "fit does not return the estimator")
    require(model.get_params() == before, "fit changes a parameter")
    predicted = np.asarray(model.predict(probe))
    require(set(predicted) <= {0, 1, 2}, "it predicts a class that no label names")
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(probe)
        require(p.shape == (len(probe), 3), f"probabilities have the shape {p.shape}")
        require(np.allclose(p.sum(1), 1) and (p >= 0).all(), "probabilities do not sum to 1")
        best = model.classes_[p.argmax(1)]
        require(equal(predicted, best), "it does not predict the most probable class")
    again = np.asarray(clone(model).fit(X, y).predict(probe))
    require(equal(predicted, again), "a second fit with the same seed predicts something else")


def takes_labels_of_any_type(learner: Learner) -> None:
    X, y, probe, _ = blobs(0)
    words = np.array(["c", "b", "a"], object)  # sorted, the last class comes first
    named = np.where(y == UNLABELED, UNLABELED, words[y])
    texts = [str(label) for label in named]
    try:
        learner.fit(X, texts)
    except ValueError:
        pass
    else:
        raise BrokenContractError("it takes the string '-1' for a class")
    got = np.asarray(learner.fit(X, named).predict(probe))
    require(set(got) <= set(words), "with strings for labels it predicts other values")
    coded = np.where(y == UNLABELED, UNLABELED, 2 - y)  # codes in that order
    expected = words[2 - np.asarray(learner.fit(X, coded).predict(probe))]
    require(equal(got, expected), "with strings for labels it predicts other classes")


def has_an_answer_in_every_case(learner: Learner) -> None:
    cases = odd_cases()
    fits = learner.fit_all(list(cases.values()))
    for (case_, (X, y)), (model, failure) in zip(cases.items(), fits, strict=True):
        probe = np.vstack([X, 1e3 * X[:5]])
        try:
            if failure:
                raise failure
            predicted = np.asarray(model.predict(probe))
        except Exception as error:
            raise BrokenContractError(f"{case_}: {type(error).__name__}: {error}") from error
        known = set(predicted) <= set(y[y != UNLABELED])
        require(known, f"{case_}: it predicts a class that no label names")
        if hasattr(model, "predict_proba"):
            finite = np.isfinite(model.predict_proba(probe)).all()
            require(finite, f"{case_}: a probability is not finite")


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
    """Where no row is unlabeled, the algorithm must predict what its baseline predicts."""
    baseline = registry.matched_baseline(learner.spec)
    if learner.supervised:
        require(baseline is None, "it is supervised, but names a baseline")
        return
    if baseline is None:
        raise BrokenContractError("it names no baseline: give it the attribute `baseline`")
    require(Learner(baseline).supervised, f"its baseline {baseline} is not supervised")
    X, y, probe, _ = blobs(0)
    X, y = X[y != UNLABELED], y[y != UNLABELED]
    alone = learner.fit(X, y).predict(probe)
    require(
        equal(alone, Learner(baseline).fit(X, y).predict(probe)),
        "without unlabeled rows it does not predict what its baseline predicts",
    )


def sees_its_unlabeled_rows(learner: Learner) -> None:
    """With other unlabeled rows at least one prediction must change, in one of several draws; for a
    supervised algorithm, none may.
    """
    X, y, _, _ = blobs(0)
    probe = np.random.default_rng(9).uniform(-3, 3, size=(2000, X.shape[1]))
    free = y == UNLABELED

    def predictions(draw: int) -> Any:
        other = X.copy()
        other[free] = blobs(draw + 1)[0][free] + 0.2 * draw
        return learner.fit(other, y).predict(probe)

    first = predictions(0)
    alive = any(not equal(predictions(draw), first) for draw in (1, 2, 3))
    if learner.supervised:
        require(not alive, "it is called supervised, but unlabeled rows change its predictions")
    else:
        require(alive, "it is dead: its predictions do not depend on the unlabeled rows")


def differs_from_its_baseline(learner: Learner) -> None:
    """On round clusters and on two moons, at least one prediction must be another than the
    baseline's, which is fitted with the same seed.
    """
    baseline = registry.matched_baseline(learner.spec)
    if learner.supervised or baseline is None:
        return
    trials = [(draw, seed) for draw in (blobs, moons) for seed in range(TRIALS)]

    def answers(spec: str, draw: Any, seed: int) -> Any:
        X, y, _, _ = draw(seed)
        return Learner(spec).fit(X, y, seed).predict(_around(X))

    require(
        any(
            not equal(answers(learner.spec, *trial), answers(baseline, *trial)) for trial in trials
        ),
        f"its predictions are identical to those of its baseline {baseline} in {len(trials)} of "
        f"{len(trials)} trials",
    )


def _around(X: Any) -> Any:
    """Rows all over the place where X lies, to be predicted."""
    return np.random.default_rng(9).uniform(X.min(0), X.max(0), size=(2000, X.shape[1]))


def its_unlabeled_loss_has_a_gradient(learner: Learner) -> None:
    """Of a deep method, on a net without BatchNorm, through which rows act even without a loss."""
    if learner.supervised or not learner.deep:
        return
    largest = unlabeled_gradient(estimator(learner.spec, seed=0))
    require(largest > 0, "it is dead: the gradient of its unlabeled loss is always zero")


def unlabeled_gradient(model: Any) -> float:
    """The largest norm of the gradient of the unlabeled loss during training."""
    from robustssl.checks._gradients import unlabeled_gradients

    X, y, _, _ = blobs(0)
    model.set_params(net="mlp[width=16]")
    return max(unlabeled_gradients(model, X, y))


ALGORITHM: tuple[Callable[[Learner], str | None], ...] = (
    is_a_classifier,
    takes_labels_of_any_type,
    has_an_answer_in_every_case,
    refuses_what_is_not_a_number,
    names_its_baseline,
    sees_its_unlabeled_rows,
    differs_from_its_baseline,
    its_unlabeled_loss_has_a_gradient,
    is_not_worse_than_its_baseline,
    does_not_collapse_on_consistent_rows,
    every_option_does_something,
    every_searched_option_does_something,
)


def check_algorithm(spec: str) -> Iterator[tuple[str, str | None]]:
    """The name of every contract and, if it is broken, what is wrong. An algorithm that cannot be
    used at all, since its methods take other arguments, is an error.
    """
    check = getattr(registry.estimator(spec), "_check_options", None)
    if check is not None:
        check()
    yield from verdicts(ALGORITHM, Learner(registry.canonical("algorithm", spec)))
