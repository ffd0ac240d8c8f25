"""How the unlabeled rows of a pair differ from the labeled ones: what an audit looks at first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.decomposition import PCA

from robustssl.analysis.interval import Interval
from robustssl.audits.columns import Column, compare_columns
from robustssl.audits.mixture import Mixture, estimate_mixture
from robustssl.audits.model import encoder, typed
from robustssl.audits.rows import Pair
from robustssl.audits.telling import Telling, telling_columns, telling_words
from robustssl.preprocessing import preprocessing

LABELED, UNLABELED = 3000, 4000  # rows that are examined; of more, a random sample
COMPONENTS = 30  # of images and texts
UNKNOWN = Interval(np.nan, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Inconsistency:
    """How the unlabeled rows differ from the labeled rows.

    distribution, label, feature: t of each kind. columns: those that are lost. telling: what
    tells the rows apart. mixture: which rows are inconsistent; None if no column can be compared.
    """

    distribution: Interval
    label: Interval
    feature: Interval
    columns: tuple[Column, ...]
    telling: tuple[Telling, ...]
    mixture: Mixture | None


def inspect_all(pair: Pair, part: Pair, step: Callable[[], None]) -> Inconsistency:
    """How inconsistent the rows of a sample are. In a table all unlabeled rows get a probability;
    images and texts outside of the sample do not, since encoders are slow.
    """
    if pair.kind != "tabular":
        return inspect(part, step)
    return inspect(pair.sample(LABELED, len(pair.unlabeled)), step, part.rows)


def inspect(
    pair: Pair,
    step: Callable[[], None] = lambda: None,
    sample: npt.NDArray[np.intp] | None = None,
) -> Inconsistency:
    """How inconsistent the rows are; takes mixture.STEPS steps. sample: the numbers of the
    unlabeled rows that are examined; by default, all.
    """
    compared = columns_of(pair)
    lost = {column.name for column in compared["columns"] if column.share == 1}
    X, Z, names = _numbers(pair, lost)
    if X.shape[1] == 0:
        return Inconsistency(UNKNOWN, UNKNOWN, telling=(), mixture=None, **compared)
    codes = np.unique(pair.y, return_inverse=True)[1]
    found = estimate_mixture(X, codes, Z, step, sample, pair.group)
    telling: list[Telling] = []
    if found.p < 0.05 and pair.kind == "text":
        telling = telling_words(pair)
    elif found.p < 0.05 and pair.kind == "tabular":
        telling = telling_columns(pair, names, found.weight)
    return Inconsistency(
        found.distribution, found.label, telling=tuple(telling), mixture=found, **compared
    )


def columns_of(pair: Pair) -> dict[str, Any]:
    """What `Inconsistency` says of columns."""
    if pair.kind != "tabular":
        return {"feature": UNKNOWN, "columns": ()}
    feature, columns = compare_columns(pair)
    return {"feature": feature, "columns": tuple(columns)}


def _numbers(pair: Pair, lost: set[str]) -> tuple[Any, Any, list[str]]:
    """Labeled and unlabeled rows as numbers, without lost columns; the column of each number."""
    n = len(pair.labeled)
    if pair.kind == "tabular":
        both = pd.concat([pair.labeled, pair.unlabeled])
        both = both[[name for name in both if str(name) not in lost]]
        if not both.shape[1]:
            return np.empty((n, 0)), np.empty((len(pair.unlabeled), 0)), []
        made = encoder(both, "tabular")
        numbers = made.transform(typed(both, made))
        names = list(made.numbers_)
        if "words" in made.named_transformers_:
            names += [*made.named_transformers_["words"].get_feature_names_out()]
    else:
        both = np.concatenate([pair.labeled, pair.unlabeled])
        numbers = preprocessing(both, pair.kind, pair.encoder).transform(both)
        if numbers.shape[1] > COMPONENTS:
            numbers = PCA(COMPONENTS, random_state=0).fit_transform(numbers)
        names = []
    return numbers[:n], numbers[n:], [str(name) for name in names]
