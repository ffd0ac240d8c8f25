"""The contracts that no option of an algorithm is dead, and none that is searched."""

import warnings
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from robustssl import registry
from robustssl.checks._contracts import require
from robustssl.checks._learner import Learner, estimator
from robustssl.checks._toys import ToyData, blobs, moons
from robustssl.data import UNLABELED
from robustssl.registry.searches import value_at
from robustssl.spec import parse
from robustssl.views import VIEWS

WHERE = ("device", "precision", "random_state")  # say where a model is fitted, not how
SHORT = {"steps": 60, "net": "mlp[width=16]", "learning_rate": 0.02, "device": "cpu"}
OTHERS: dict[type, tuple[Any, ...]] = {
    str: ("mlp[width=8]", "uda", "ssgmm", "self_training"),
    int: (1, 2, 3, 5, 50),
    float: (0.0, 0.1, 0.5, 0.9, 2.0, 10.0, 1e-9),
}
PLACES = (0.0, 0.999, 0.5, 0.25, 0.75)  # of a space at which values are tried, both ends first

Values = tuple[tuple[str, Any], ...]


def every_option_does_something(learner: Learner) -> None:
    """Some other value of each option, perhaps together with other values of two more, changes some
    probability on some data. The noise of strong views is left out where there are none.
    """
    dead = [name for name in _options(learner.spec) if not is_alive(learner.spec, name)]
    require(not dead, f"options that change nothing: {', '.join(dead)}")


def every_searched_option_does_something(learner: Learner) -> None:
    """Two values that a search may draw for an option, perhaps together with a value that it may
    draw for another one, give different probabilities on some data.
    """
    dead = [name for name in _searched(learner.spec) if not is_worth_a_search(learner.spec, name)]
    require(not dead, f"options whose searched values all do the same: {', '.join(dead)}")


def is_worth_a_search(spec: str, option: str) -> bool:
    """Whether two values of the option's space change what the algorithm answers."""
    searched = _searched(spec)
    first, *others = searched.pop(option)
    contexts: list[Values] = [(), *(((name, x),) for name in searched for x in searched[name])]
    return any(
        _differ(spec, (*context, (option, first)), (*context, (option, value)), data)
        for context in contexts
        for data in range(len(_datasets()))
        for value in others
    )


def _searched(spec: str) -> dict[str, list[Any]]:
    """The options that a search sets, since the spec does not, and some values that it draws."""
    name, given = parse(spec)
    usual = estimator(spec, 0).get_params()
    usual |= SHORT if registry.about("algorithm", name).family == "deep" else {}
    return {
        option: list(dict.fromkeys(value_at(values, usual[option], place) for place in PLACES))
        for option, values in registry.about("algorithm", name).space.items()
        if option not in given
    }


def is_alive(spec: str, option: str) -> bool:
    """Whether another value of the option changes what the algorithm answers."""
    return any(
        _differ(spec, context, (*context, (option, value)), data)
        for context in _contexts(spec, option)
        for data in range(len(_datasets()))
        for value in _others(spec, option)
    )


def _options(spec: str) -> list[str]:
    model = estimator(spec, 0)
    has_strong = any(VIEWS[view] == "strong" for view in getattr(model, "views", ()))
    left_out = {*WHERE, *(() if has_strong else ("strong",))}
    return [name for name in model.get_params() if name not in left_out]


def _contexts(spec: str, option: str) -> Iterator[Values]:
    """No other value of another option, then those of one or two that switch something."""
    switches = [
        (name, value)
        for name in _options(spec)
        if name != option
        for value in _switches(spec, name)
    ]
    for count in range(3):
        yield from combinations(switches, count)


def _switches(spec: str, option: str) -> list[Any]:
    """The other words that an option takes, null if it takes it, and 50 in place of null."""
    model = estimator(spec, 0)
    if model.get_params()[option] is None:
        return [50]
    found: list[Any] = []
    unread = [get_type_hints(type(model)).get(option, Any)]
    while unread:
        hint = unread.pop()
        if get_origin(hint) is Literal:
            found += get_args(hint)
        elif hint in (None, type(None)):
            found.append(None)
        else:
            unread += [part for part in get_args(hint) if not isinstance(part, (str, int, float))]
    return [value for value in found if value != model.get_params()[option]]


def _others(spec: str, option: str) -> Iterator[Any]:
    """Other values of an option, most of which the algorithm accepts."""
    value = estimator(spec, 0).get_params()[option]
    yield from _switches(spec, option)
    if isinstance(value, bool):
        yield not value
    for kind in (type(value),) if value is not None else (int, float):
        yield from (other for other in OTHERS.get(kind, ()) if other != value)


def _differ(spec: str, one: Values, other: Values, data: int) -> bool:
    answers, others = _answers(spec, one, data), _answers(spec, other, data)
    return answers is not None and others is not None and not np.array_equal(answers, others)


@cache
def _answers(spec: str, changed: Values, data: int) -> Any:
    """The probabilities of test rows, or else their classes; None if the algorithm refuses the
    values of its options.
    """
    X, y, X_test, _ = _datasets()[data]
    model = estimator(spec, 0)
    short = SHORT if getattr(model, "family", None) == "deep" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few iterations need not suffice
        try:
            model = model.set_params(**{**short, **dict(changed)}).fit(X, y)
        except (ValueError, FloatingPointError):
            return None
        return getattr(model, "predict_proba", model.predict)(X_test)


@cache
def _datasets() -> list[ToyData]:
    """Clusters that are apart, half-moons, clusters that overlap, and labels that are rarer in one
    class, since some methods answer class shares that differ.
    """
    X, *others = blobs(0, rows=300, labels=5, test=200)
    noisy = X + np.random.default_rng(0).normal(size=X.shape)
    X_rare, y_rare, *tested = blobs(0, rows=90, test=200)
    y_rare[np.flatnonzero(y_rare == 1)[2:]] = UNLABELED
    return [
        blobs(0, rows=90, test=200),
        moons(0, test=200),
        (noisy, *others),
        (X_rare, y_rare, *tested),
    ]
