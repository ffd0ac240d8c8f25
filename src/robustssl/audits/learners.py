"""Learners of an audit: those that learn from labeled rows alone, and those that also use unlabeled
rows.
"""

from collections.abc import Callable
from typing import Any

from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.semi_supervised import SelfTrainingClassifier

from robustssl import registry
from robustssl.errors import InputError
from robustssl.registry.trust import load_own
from robustssl.spec import parse

BASELINES = ("logistic", "forest", "boosting", "supervised_kernel", "supervised_gaussian")
METHODS = ("self_training", "label_spreading", "ssgmm[rounds=50]")
AROUND = "self_training({})"  # of a learner that knows nothing of unlabeled rows
ROUNDS = 3  # of self-training around a learner: each of them trains it anew on all rows


def _logistic() -> Any:
    """A logistic regression whose C is chosen by cross-validation inside."""
    grid = {"C": [1.0, 0.1, 10.0, 0.01]}  # of equals the first is taken
    return GridSearchCV(LogisticRegression(max_iter=500), grid, cv=3)


def _forest() -> Any:
    return RandomForestClassifier(100, random_state=0)


def _boosting() -> Any:
    """Leaves may be small, since labels may be few."""
    return HistGradientBoostingClassifier(
        max_iter=60, learning_rate=0.15, min_samples_leaf=5, early_stopping=False, random_state=0
    )


_OWN: dict[str, Callable[[], Any]] = {
    "logistic": _logistic,
    "forest": _forest,
    "boosting": _boosting,
}


def estimator_of(learner: Any) -> Any:
    """A classifier by the name of its learner, or a copy of an estimator. One that uses unlabeled
    rows takes -1 for their class.
    """
    if not isinstance(learner, str):
        return clone(learner)
    before, after = AROUND.split("{}")
    if learner in _OWN:
        return _OWN[learner]()
    if learner.startswith(before) and learner.endswith(after):
        return around(learner[len(before) : -len(after)])
    name, options = parse(learner)
    takes = "random_state" in registry.defaults("algorithm", name)
    seed: dict[str, Any] = {"random_state": 0} if takes and "random_state" not in options else {}
    return registry.estimator(learner, **seed)


def around(learner: Any) -> Any:
    """Self-training around a learner: it labels the unlabeled rows with its confident guesses."""
    return SelfTrainingClassifier(estimator_of(learner), max_iter=ROUNDS)


def found_by(fitted: Any) -> Any:
    """Of a search what it found, also inside of self-training: a search cannot be saved."""
    if isinstance(fitted, SelfTrainingClassifier):
        fitted.estimator_ = found_by(fitted.estimator_)
        fitted.estimator = fitted.estimator_
    return getattr(fitted, "best_estimator_", fitted)


def own_model(model: Any) -> dict[str, Any]:
    """An estimator of the user's own by a short name; `module:Class` is imported and made."""
    if isinstance(model, str):
        model = load_own("algorithm", model)()
    lacking = [name for name in ("fit", "predict") if not hasattr(model, name)]
    if lacking or isinstance(model, type):
        raise InputError(f"model must be an estimator, such as GaussianNB(), got {model}")
    return {type(model).__name__: model}


def check_method(algorithm: str) -> None:
    """An error if an audit cannot try an algorithm."""
    registry.canonical("algorithm", algorithm)  # an error if there is no such algorithm
    known = registry.about("algorithm", parse(algorithm)[0])
    if known.family == "deep":
        raise InputError(f"{algorithm} is a neural network, and an audit cannot save its model")
    if known.supervised:
        raise InputError(f"{algorithm} does not use unlabeled rows, so it has no gain from them")
