"""The audit of two sets of rows, labeled and not: how inconsistent they are, whether the unlabeled
ones help or harm, and what to use.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

from robustssl.audits import gains as _gains
from robustssl.audits import mixture as _foreign
from robustssl.audits.columns import Column, compare_columns
from robustssl.audits.estimate import Estimate
from robustssl.audits.gains import METHODS, Gains, accuracy_alone, measure
from robustssl.audits.mixture import Foreign, find_foreign
from robustssl.audits.model import Model, encoder, load_model, save_model, typed
from robustssl.audits.rows import Pair, images_of, is_number, of_frames, read
from robustssl.preprocessing import preprocessing

__all__ = [
    "Audit",
    "Model",
    "Pair",
    "audit",
    "images_of",
    "inspect",
    "load_model",
    "of_frames",
    "save_model",
]

LABELED, UNLABELED = 3000, 4000  # rows that are looked at, of more a random sample
COMPONENTS = 30  # of images and texts
STEPS = _foreign.STEPS + _gains.STEPS
UNKNOWN = Estimate(np.nan, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Inconsistency:
    """t of each kind; which columns are lost; what tells the rows apart; which are foreign."""

    distribution: Estimate
    label: Estimate
    feature: Estimate
    columns: tuple[Column, ...]
    telling: tuple[tuple[str, str, str], ...]  # a feature, in labeled rows, in unlabeled rows
    foreign: Foreign | None


@dataclass(frozen=True)
class Advice:
    """What to use, in a sentence, and why."""

    algorithm: str
    uses_unlabeled: bool
    text: str


@dataclass(frozen=True, eq=False)
class Audit:
    pair: Pair  # the rows looked at
    labeled: int  # rows there are
    unlabeled: int
    inconsistency: Inconsistency
    gains: Gains
    advice: Advice
    model: Model


def audit(
    labeled: str | Path | pd.DataFrame,
    unlabeled: str | Path | pd.DataFrame | None = None,
    target: str = "",
    *,
    text: str | None = None,
    drop: Sequence[str] = (),
    algorithms: Sequence[str] = METHODS,
    step: Callable[[], None] = lambda: None,
) -> Audit:
    """Two files, one with empty targets, two folders of images, or two frames; in STEPS steps."""
    for name in algorithms:
        _gains.baseline_of(name)  # before anything takes long
    if isinstance(labeled, pd.DataFrame):
        pair = of_frames(labeled, unlabeled, target, text, drop)
    else:
        pair = read(labeled, unlabeled, target, text, drop)
    part = pair.sample(LABELED, UNLABELED)
    with parallel_config(backend="threading", n_jobs=-1), threadpool_limits(1):
        inconsistency = replace(inspect(part, step), **_columns(pair))
    found = inconsistency.foreign
    likely = found.foreign if found else np.full(len(part.unlabeled), 0.5)
    gains = measure(part, likely, algorithms, step)
    lost = [column.name for column in inconsistency.columns if column.share == 1]
    advice = advise(gains, *_majority(part.y))
    if 0 < len(lost) < part.labeled.shape[1]:
        score = accuracy_alone(part.without(lost), gains.alone())
        advice = replace(advice, text=f"{advice.text} {_told_of_lost(lost, gains.alone(), score)}")
    model = Model(advice.algorithm, pair.kind, pair.text)
    model.fit(pair.labeled, pair.y, part.unlabeled if advice.uses_unlabeled else None)
    return Audit(part, len(pair.labeled), len(pair.unlabeled), inconsistency, gains, advice, model)


def inspect(pair: Pair, step: Callable[[], None] = lambda: None) -> Inconsistency:
    """How inconsistent the rows are; takes foreign.STEPS steps."""
    compared = _columns(pair)
    lost = {column.name for column in compared["columns"] if column.share == 1}
    X, Z, names = _numbers(pair, lost)
    if X.shape[1] == 0:
        return Inconsistency(UNKNOWN, UNKNOWN, telling=(), foreign=None, **compared)
    codes = np.unique(pair.y, return_inverse=True)[1]
    found = find_foreign(X, codes, Z, step)
    telling: list[tuple[str, str, str]] = []
    if found.p < 0.05:
        if pair.kind == "text":
            telling = _telling_words(pair)
        elif pair.kind == "tabular":
            telling = _telling_columns(pair, names, found)
    return Inconsistency(
        found.distribution, found.label, telling=tuple(telling), foreign=found, **compared
    )


def _columns(pair: Pair) -> dict[str, Any]:
    if pair.kind != "tabular":
        return {"feature": UNKNOWN, "columns": ()}
    feature, columns = compare_columns(pair)
    return {"feature": feature, "columns": tuple(columns)}


def _numbers(pair: Pair, lost: set[str]) -> tuple[Any, Any, list[str]]:
    """Labeled and unlabeled rows as numbers, by what both have, and the column of each number."""
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
        numbers = preprocessing(both, pair.kind).transform(both)
        if numbers.shape[1] > COMPONENTS:
            numbers = PCA(COMPONENTS, random_state=0).fit_transform(numbers)
        names = []
    return numbers[:n], numbers[n:], [str(name) for name in names]


def _telling_columns(
    pair: Pair, names: list[str], found: Foreign, most: int = 5
) -> list[tuple[str, str, str]]:
    """The columns by which a forest tells the rows apart."""
    weight = pd.Series(found.weight[: len(names)], index=names, dtype=float)
    weight = weight.groupby(level=0).sum().sort_values(ascending=False)
    weight = weight[weight > 1 / len(weight)]  # more than if all told the same
    columns = {str(name): name for name in pair.unlabeled}
    labeled, unlabeled = (
        [_typical(frame[columns[name]]) for name in weight.index[:most]]
        for frame in (pair.labeled, pair.unlabeled)
    )
    told = [f"{name} ({share:.0%})" for name, share in weight.items()][:most]
    return list(zip(told, labeled, unlabeled, strict=True))


def _typical(column: pd.Series) -> str:
    """The median of numbers, with the middle 80%; the commonest of words, with its share."""
    if is_number(column):
        low, middle, high = column.astype(float).quantile([0.1, 0.5, 0.9])
        return "{} ({} to {})".format(*(_rounded(value) for value in (middle, low, high)))
    counts = column.astype(str).value_counts(normalize=True)
    return f"{counts.index[0]} ({counts.iloc[0]:.0%})"


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _telling_words(pair: Pair, most: int = 8) -> list[tuple[str, str, str]]:
    """The words whose share of rows differs most."""
    vectorizer = CountVectorizer(binary=True, max_features=2000)
    X = vectorizer.fit_transform(np.concatenate([pair.labeled, pair.unlabeled]))
    n = len(pair.labeled)
    mine, theirs = (np.asarray(part.mean(0)).ravel() for part in (X[:n], X[n:]))
    words = vectorizer.get_feature_names_out()
    order = np.argsort(-np.abs(mine - theirs))[:most]
    return [(str(words[i]), f"{mine[i]:.0%} of rows", f"{theirs[i]:.0%} of rows") for i in order]


def advise(gains: Gains, commonest: Any = None, share: float = 0.0) -> Advice:
    """The best method, if it beats the best learner without unlabeled rows beyond chance; else that
    learner. The interval allows for the choice among the methods. commonest: a class that is right
    for a share of the rows.
    """
    alone, tests = gains.alone(), len(gains.baselines)
    best = max(gains.baselines, key=lambda name: gains.scores[name].mean())
    gain = gains.gain(best, alone, tests)
    means = {name: f"{gains.scores[name].mean():.3f}" for name in (best, alone)}
    told = f"{gain.estimate:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
    if gain.low > 0:
        text = (
            f"Use {best} with the unlabeled rows: its accuracy is {means[best]}, that of the best "
            f"learner without them ({alone}) {means[alone]}, a gain of {told}."
        )
    else:
        text = (
            f"Use the labeled rows alone, with {alone} (accuracy {means[alone]}): the best method "
            f"that uses the unlabeled rows, {best}, gains {told}, which {_judged(gain)}."
        )
    chosen = best if gain.low > 0 else alone
    if gains.interval(gains.scores[chosen]).low <= share:
        text += (
            f" But nothing here is better beyond chance than to answer {commonest!r} always, which "
            f"is right for {share:.3f} of the rows."
        )
    return Advice(chosen, chosen != alone, text)


def _judged(gain: Estimate) -> str:
    if gain.low == gain.high == 0:
        return "makes no difference"
    if gain.high <= 0:
        return "is a loss"
    if gain.high - gain.low > 0.2:
        return "so few labels cannot tell from chance: more of them may"
    return "may be chance"


def _majority(y: Any) -> tuple[Any, float]:
    counts = pd.Series(y).value_counts(normalize=True)
    return counts.index[0], float(counts.iloc[0])


def _told_of_lost(lost: list[str], algorithm: str, score: float) -> str:
    named = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    return (
        f"Rows that lack {named}, or have it written otherwise, as your unlabeled ones do, need a "
        f"model without: {algorithm} then has an accuracy of {score:.3f} (--drop leaves one out)."
    )
