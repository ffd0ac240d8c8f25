"""What all classifiers share: classes coded 0 to K - 1, -1 for unlabeled rows, and an answer in
every case.
"""

import inspect
from types import NoneType
from typing import Any, ClassVar, Self, get_args

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from robustssl import registry
from robustssl.data import UNLABELED
from robustssl.method import Family
from robustssl.spec import check_options

Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


class EncodedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits the model that `_fit` makes on classes coded 0 to K - 1, and predicts the most probable
    class.

    Without unlabeled rows it fits its baseline; with only one class, it predicts that class.
    """

    version = 1
    family: ClassVar[Family] = "statistical"
    baseline: str | None = None
    checks: ClassVar[dict[str, Any]] = {"dtype": np.float64}  # arguments of validate_data

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        """A fitted model with `predict_proba`; codes are -1 for unlabeled rows."""
        raise NotImplementedError

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        rows, codes = self._encode(X, y)
        stand_in = self._stand_in(codes)
        if stand_in is None:
            self.model_ = self._fit(rows, codes)
        else:
            self.model_ = stand_in.fit(*labeled_part(rows, codes))
        return self

    def _encode(self, X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Matrix, Codes]:
        """The rows as numbers, and their classes coded 0 to K - 1, or -1."""
        self._check_options()
        rows, targets = validate_data(self, X, y, **self.checks)
        labeled = np.asarray(targets != UNLABELED)
        if np.any(targets.astype(object) == "-1"):
            raise ValueError(
                "y holds the string '-1', not the number -1; with strings for labels, y must be an "
                "array of objects"
            )
        if not labeled.any():
            raise ValueError("no row has a label: every y is -1")
        check_classification_targets(targets[labeled])
        codes = np.full(len(targets), UNLABELED, np.intp)
        self.classes_, codes[labeled] = np.unique(targets[labeled], return_inverse=True)
        return rows, codes

    def _stand_in(self, codes: Codes) -> Any:
        """The model to fit in place of this one, if there is one class or no unlabeled row; else
        None.
        """
        if len(self.classes_) == 1:
            return DummyClassifier()
        if (codes != UNLABELED).all() and self.baseline is not None:
            return self._matched(self.baseline)
        return None

    def _check_options(self) -> None:
        check_options(type(self), self.get_params())

    def _matched(self, name: str) -> Any:
        """Another algorithm, with the values of the options that both have."""
        mine, theirs = self.get_params(), inspect.signature(registry.algorithm(name)).parameters
        shared = {
            key: mine[key]
            for key in theirs.keys() & mine.keys()
            if mine[key] is not None or NoneType in get_args(theirs[key].annotation)
        }
        return registry.estimator(name, **shared)

    def predict_proba(self, X: npt.ArrayLike) -> Matrix:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self.checks)
        return np.asarray(self.model_.predict_proba(X), float)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(1)])


def labeled_part(rows: Matrix, codes: Codes) -> tuple[Matrix, Codes]:
    labeled = codes != UNLABELED
    return rows[labeled], codes[labeled]


class SupervisedClassifier(EncodedClassifier):
    """Learns from the labeled rows alone; the baseline of other algorithms."""

    supervised = True

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        raise NotImplementedError

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        return self._learn(*labeled_part(X, codes))


def one_hot(codes: Codes, classes: int | None = None) -> Matrix:
    """Codes as one-hot rows; an unlabeled row is all zeros."""
    width = codes.max() + 1 if classes is None else classes
    return np.asarray(np.arange(width) == codes[:, None], float)


def to_rows(weights: Matrix) -> Matrix:
    """Every row divided by its sum; rows of zeros stay zero."""
    total = weights.sum(1, keepdims=True)
    return weights / np.where(total > 0, total, 1)
