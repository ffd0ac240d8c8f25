"""A classifier that takes rows as they were read."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robustssl.audits.learners import estimator_of, found_by
from robustssl.audits.rows import is_number, texts_of
from robustssl.classifier import to_rows
from robustssl.data import UNLABELED, Kind
from robustssl.errors import InputError
from robustssl.preprocessing import preprocessing

LARGEST = 1e100  # larger numbers, and infinite ones, count as missing


class Model(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An algorithm behind an encoder that is fitted on the labeled rows only.

    algorithm: the name of a learner of an audit, or an estimator of scikit-learn. A missing number
    is replaced by the mean of the labeled rows. text: the column of a frame that holds the texts.
    encoder: of images or texts, a spec. shares: by class, those of the rows that are to be
    predicted, if they are not those of the labeled rows.
    """

    shares: Mapping[Any, float] | None = None  # a model of an earlier version has none

    def __init__(
        self,
        algorithm: Any,
        kind: Kind = "tabular",
        text: str | None = None,
        encoder: str = "",
        shares: Mapping[Any, float] | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.kind = kind
        self.text = text
        self.encoder = encoder
        self.shares = shares

    def fit(self, labeled: Any, y: npt.ArrayLike, unlabeled: Any = None, made: Any = None) -> Self:
        """made: the encoder, if it has been fitted on these labeled rows already."""
        self.encoder_ = made or encoder(labeled, self.kind, self.encoder)
        self.shape_ = list(np.shape(labeled)[1:])
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.prior_ = np.bincount(codes) / len(codes)
        rows = self.encode(labeled)
        if unlabeled is not None:
            rows = np.concatenate([rows, self.encode(unlabeled)])
            codes = np.append(codes, np.full(len(rows) - len(codes), UNLABELED))
        self.estimator_ = found_by(estimator_of(self.algorithm).fit(rows, codes))
        return self

    def encode(self, rows: Any) -> npt.NDArray[np.float64]:
        """Rows as the numbers that the estimator takes."""
        if self.kind == "tabular":
            rows = typed(rows, self.encoder_)
        elif self.kind == "text":
            rows = texts_of(rows[self.text] if isinstance(rows, pd.DataFrame) else rows)
        elif list(np.shape(rows)[1:]) != self.shape_:
            shape = " x ".join(map(str, self.shape_))
            raise InputError(
                f"images must have {shape} bytes each; read them with robustssl.audits.images_of, "
                f"size={self.shape_[0]}"
            )
        return np.asarray(self.encoder_.transform(rows), float)

    def predict(self, rows: Any) -> npt.NDArray[Any]:
        if not len(rows):
            return np.asarray(self.classes_[:0])
        if self.shares is None:
            return np.asarray(self.classes_[self.estimator_.predict(self.encode(rows))])
        return np.asarray(self.classes_[self.predict_proba(rows).argmax(1)])

    def predict_proba(self, rows: Any) -> npt.NDArray[np.float64]:
        if not len(rows):
            return np.empty((0, len(self.classes_)))
        numbers = self.encode(rows)
        if hasattr(self.estimator_, "predict_proba"):
            P = np.asarray(self.estimator_.predict_proba(numbers), float)
        else:
            P = np.eye(len(self.classes_))[self.estimator_.predict(numbers)]
        if self.shares is None:
            return P
        wanted = np.array([self.shares[name] for name in self.classes_])
        return to_rows(P * wanted / self.prior_)


def encoder(rows: Any, kind: Kind, name: str = "") -> Any:
    """What turns rows into numbers; in a table, numbers are standardised and words become
    indicators.
    """
    if kind != "tabular":
        return preprocessing(rows, kind, name)
    numbers = [name for name in rows if is_number(rows[name])]
    words = [name for name in rows if name not in numbers]
    mean = SimpleImputer(strategy="mean", keep_empty_features=True)
    indicators = OneHotEncoder(
        handle_unknown="ignore",
        max_categories=20,
        sparse_output=False,
        feature_name_combiner=column_of,
    )
    parts = [
        ("numbers", make_pipeline(mean, StandardScaler()), numbers),
        ("words", indicators, words),
    ]
    made = ColumnTransformer([part for part in parts if part[2]])
    made.names_, made.numbers_ = list(rows), numbers
    return made.fit(typed(rows, made))


def column_of(column: str, word: str) -> str:
    """The name of an indicator: that of its column."""
    return column


def typed(rows: pd.DataFrame, made: Any) -> pd.DataFrame:
    """The columns that an encoder knows, as numbers (or missing) and as words."""
    if not isinstance(rows, pd.DataFrame):
        raise InputError(f"the rows must be a pandas.DataFrame, got {type(rows).__name__}")
    missing = [name for name in made.names_ if name not in rows]
    if len(missing) > len(made.names_) / 2:
        raise InputError(
            f"the rows lack {len(missing)} of the {len(made.names_)} columns that the model has "
            f"learned from: {', '.join(map(str, missing))}"
        )
    rows = rows.reindex(columns=made.names_)
    for name in made.names_:
        column = rows[name]
        if name in made.numbers_:
            numbers = pd.to_numeric(column, errors="coerce").astype(float)
            rows[name] = numbers.where(numbers.abs() < LARGEST)
        else:
            rows[name] = column.astype(object).where(column.isna(), column.astype(str))
    return rows
