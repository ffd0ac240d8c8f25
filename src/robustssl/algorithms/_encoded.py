"""What classifiers built on another library's model share: codes for the classes, -1 for
unlabeled.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from robustssl.data import UNLABELED


class EncodedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits the model that `_fit` makes on classes coded 0 to K - 1, and predicts its likeliest
    class.
    """

    version = 1

    def _fit(self, X: npt.NDArray[Any], codes: npt.NDArray[np.intp]) -> Any:
        """A fitted model with `predict_proba`; codes are -1 for unlabeled rows."""
        raise NotImplementedError

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        rows, targets = validate_data(self, X, y)
        labeled = np.asarray(targets != UNLABELED)
        check_classification_targets(targets[labeled])
        codes = np.full(len(targets), UNLABELED, np.intp)
        self.classes_, codes[labeled] = np.unique(targets[labeled], return_inverse=True)
        self.model_ = self._fit(rows, codes)
        return self

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.asarray(self.model_.predict_proba(X), float)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(1)])


class SupervisedClassifier(EncodedClassifier):
    """Learns from the labeled rows and ignores the others: the baseline of many."""

    baseline: str | None = None
    supervised = True

    def _model(self) -> Any:
        raise NotImplementedError

    def _fit(self, X: npt.NDArray[Any], codes: npt.NDArray[np.intp]) -> Any:
        labeled = codes != UNLABELED
        return self._model().fit(X[labeled], codes[labeled])
