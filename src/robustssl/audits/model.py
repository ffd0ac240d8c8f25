"""A learner that takes rows as they were read, and can be kept in a file without pickle."""

from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robustssl import registry
from robustssl.audits.pair import is_number
from robustssl.data import UNLABELED, Kind
from robustssl.errors import InputError
from robustssl.features import preprocessing

OURS = ("robustssl.", "sklearn.", "xgboost.", "numpy.", "scipy.")  # modules that a file may name


class Model(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An algorithm behind an encoder that is fitted on the labeled rows alone.

    A feature that a row lacks has the mean of the labeled rows.
    """

    def __init__(self, algorithm: str, kind: Kind = "tabular") -> None:
        self.algorithm = algorithm
        self.kind = kind

    def fit(self, labeled: Any, y: npt.ArrayLike, unlabeled: Any = None) -> Self:
        self.encoder_ = encoder(labeled, self.kind)
        rows = self._encode(labeled)
        targets = np.asarray(y, object)
        if unlabeled is not None:
            rows = np.concatenate([rows, self._encode(unlabeled)])
            targets = np.append(targets, np.full(len(rows) - len(targets), UNLABELED, object))
        self.estimator_ = registry.estimator(self.algorithm, **_seed(self.algorithm))
        self.estimator_.fit(rows, targets)
        self.classes_ = self.estimator_.classes_
        return self

    def _encode(self, rows: Any) -> npt.NDArray[np.float64]:
        if self.kind == "tabular":
            rows = typed(rows, self.encoder_)
        return np.asarray(self.encoder_.transform(rows), float)

    def predict(self, rows: Any) -> npt.NDArray[Any]:
        return np.asarray(self.estimator_.predict(self._encode(rows)))

    def predict_proba(self, rows: Any) -> npt.NDArray[np.float64]:
        return np.asarray(self.estimator_.predict_proba(self._encode(rows)))


def _seed(algorithm: str) -> dict[str, Any]:
    name, options = registry.parse(algorithm)
    takes = "random_state" in registry.defaults("algorithm", name)
    return {"random_state": 0} if takes and "random_state" not in options else {}


def encoder(rows: Any, kind: Kind) -> Any:
    """From rows to numbers: of a table, numbers standardised and words as indicators."""
    if kind != "tabular":
        return preprocessing(rows, kind)
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
    """The name of an indicator is that of its column."""
    return column


def typed(rows: pd.DataFrame, made: Any) -> pd.DataFrame:
    """The columns that an encoder knows: numbers as numbers or nothing, words as words."""
    if not isinstance(rows, pd.DataFrame):
        raise InputError(f"the rows must be a pandas.DataFrame, not a {type(rows).__name__}")
    rows = rows.reindex(columns=made.names_)
    for name in made.names_:
        column = rows[name]
        if name in made.numbers_:
            rows[name] = pd.to_numeric(column, errors="coerce").astype(float)
        else:
            rows[name] = column.astype(object).where(column.isna(), column.astype(str))
    return rows


def save_model(model: Any, path: str | Path) -> None:
    import skops.io

    skops.io.dump(model, path)


def load_model(path: str | Path) -> Any:
    """A model that an audit saved. A file that names anything but learners is refused."""
    import skops.io

    if not Path(path).is_file():
        raise InputError(f"there is no file {path}")
    try:
        named = skops.io.get_untrusted_types(file=path)
        strange = [name for name in named if not name.startswith(OURS)]
        if strange:
            raise InputError(f"{path} names {strange[0]}, which is not ours: it is not loaded")
        return skops.io.load(path, trusted=named)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} is not a model: {type(error).__name__}: {error}") from error
