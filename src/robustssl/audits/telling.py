"""What tells unlabeled from labeled rows: columns of a table, or words of texts."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from robustssl.audits.rows import Pair, is_number

Telling = tuple[str, str, str]  # a column or word, and its values in labeled and in unlabeled rows


def telling_columns(
    pair: Pair, names: list[str], weight: npt.NDArray[np.float64], most: int = 5
) -> list[Telling]:
    """The columns by which a forest tells the rows apart, with their importance; those above the
    mean. names: the column of each weight.
    """
    importance = pd.Series(weight[: len(names)], index=names, dtype=float)
    importance = importance.groupby(level=0).sum().sort_values(ascending=False)
    importance = importance[importance > 1 / len(importance)]
    columns = {str(name): name for name in pair.unlabeled}
    return [
        (
            f"{name} ({share:.0%})",
            _typical(pair.labeled[columns[name]]),
            _typical(pair.unlabeled[columns[name]]),
        )
        for name, share in importance[:most].items()
    ]


def _typical(column: pd.Series) -> str:
    """Of numbers the median and the middle 80%; of words the most common one and its share."""
    if is_number(column):
        low, middle, high = column.astype(float).quantile([0.1, 0.5, 0.9])
        return "{} ({} to {})".format(*(_rounded(value) for value in (middle, low, high)))
    counts = column.astype(str).value_counts(normalize=True)
    return f"{counts.index[0]} ({counts.iloc[0]:.0%})"


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def telling_words(pair: Pair, most: int = 8) -> list[Telling]:
    """The words whose share of rows differs most."""
    vectorizer = CountVectorizer(binary=True, max_features=2000)
    X = vectorizer.fit_transform(np.concatenate([pair.labeled, pair.unlabeled]))
    n = len(pair.labeled)
    labeled, unlabeled = (np.asarray(part.mean(0)).ravel() for part in (X[:n], X[n:]))
    words = vectorizer.get_feature_names_out()
    order = np.argsort(-np.abs(labeled - unlabeled))[:most]
    return [(str(words[i]), f"{labeled[i]:.0%}", f"{unlabeled[i]:.0%}") for i in order]
