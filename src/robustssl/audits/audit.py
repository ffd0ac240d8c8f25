"""An audit of labeled and unlabeled rows, from reading them to the advice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from robustssl.analysis.interval import Interval
from robustssl.audits import gains as _gains
from robustssl.audits import mixture as _mixture
from robustssl.audits.advice import Advice, advise, advise_without
from robustssl.audits.bench import bench_of
from robustssl.audits.choice import score_of_best
from robustssl.audits.gains import Gains, by_labels, by_share, measure
from robustssl.audits.inspection import LABELED, UNLABELED, Inconsistency, columns_of, inspect_all
from robustssl.audits.keeping import Keeping, keeping
from robustssl.audits.learners import METHODS, check_method, own_model
from robustssl.audits.mixture import Mixture
from robustssl.audits.model import Model
from robustssl.audits.reading import of_frames, read
from robustssl.audits.rows import Pair
from robustssl.audits.scores import check_score, score_of
from robustssl.audits.times import separation
from robustssl.audits.verdict import Verdict, judge
from robustssl.audits.worth import in_labels
from robustssl.errors import InputError

STEPS = _mixture.STEPS + _gains.STEPS


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What an audit found; pair: the rows that it examined, of `labeled` and `unlabeled` rows.
    target: the column of the classes, empty for images. time: whether time separates the rows, in a
    sentence; empty if no time was named.

    verdict: the answer. expected: the score of the advised model on rows like the labeled ones.
    keeping: the gain by the share of the unlabeled rows that is used.
    """

    pair: Pair
    target: str
    time: str
    labeled: int
    unlabeled: int
    inconsistency: Inconsistency
    gains: Gains
    verdict: Verdict
    expected: Interval
    keeping: Keeping
    advice: Advice
    model: Model

    def save(self, folder: str | Path, label_next: int = 0) -> Path:
        """Write index.html, rows.csv, model.skops and audit.json into a folder, which may hold an
        earlier audit but no other files of these names; return the path of index.html.
        label_next: so many rows to label next are written to label_next.csv.
        """
        from robustssl.audits.folder import write_audit

        return write_audit(self, folder, label_next)

    def to_dict(self) -> dict[str, Any]:
        """What audit.json holds."""
        from robustssl.audits.document import document

        return document(self)

    def label_next(self, count: int) -> pd.DataFrame:
        """At most so many rows to label next, with a target to fill in."""
        from robustssl.audits.labeling import label_next

        return label_next(self, count)

    def __repr__(self) -> str:
        from robustssl.audits.headline import told

        return told(self)

    def _repr_html_(self) -> str:
        from robustssl.audits.page import render_short

        return render_short(self)


def audit(
    labeled: str | Path | pd.DataFrame,
    unlabeled: str | Path | pd.DataFrame | None = None,
    target: str = "",
    *,
    text: str | None = None,
    drop: Sequence[str] = (),
    group: str | None = None,
    time: str | None = None,
    algorithms: Sequence[str] = METHODS,
    model: Any = None,
    score: str = "accuracy",
    shares: Literal["labeled", "unlabeled"] = "labeled",
    encoder: str = "auto",
    step: Callable[[], None] = lambda: None,
    tell: Callable[[Verdict], None] = lambda verdict: None,
) -> Audit:
    """Audit two files, one file with some empty targets, two folders of images, or two frames.

    group, time: columns; rows of a group stay together in the folds, and models are tested on rows
    that are later than those they were trained on. algorithms: methods to try that use unlabeled
    rows. model: an estimator of scikit-learn, or `module:Class`, that takes the place of all
    learners of the audit: it is tried alone, and with unlabeled rows by self-training. score:
    accuracy, balanced_accuracy, auroc or log_loss. shares: the saved model expects the classes in
    the shares of these rows. encoder: of images or texts; `auto` is efficientnet_lite0 or minilm.
    step: called STEPS times, to show progress. tell: called with the verdict as soon as it is
    known.
    """
    check_score(score)
    own = {} if model is None else own_model(model)
    methods = () if own else tuple(algorithms)
    for name in methods:
        check_method(name)  # fails before anything takes long
    columns = {"text": text, "drop": drop, "encoder": encoder, "time": time, "group": group}
    pair = _pair(labeled, unlabeled, target, columns)
    part = pair.sample(LABELED, UNLABELED)
    with parallel_config(backend="threading", n_jobs=-1), threadpool_limits(1):
        inconsistency = replace(inspect_all(pair, part, step), **columns_of(pair))
    found = inconsistency.mixture
    with bench_of(part, own, step) as bench:
        gains = measure(bench, methods, score)
        verdict = judge(gains, _weights(gains, found))
        tell(verdict)
        order = probability(part, found)
        kept = keeping(gains, verdict.method, by_share(bench, verdict.method, order))
        worth = in_labels(bench, gains, by_labels(bench, verdict.baseline), verdict.gain)
    verdict = replace(verdict, worth=worth)
    expected = score_of_best(gains, gains.methods if verdict.answer == "yes" else gains.baselines)
    advice = advise(verdict, expected, score, _majority(part.y, found))
    lost = [column.name for column in inconsistency.columns if column.share == 1]
    if 0 < len(lost) < part.labeled.shape[1]:
        without = _score_without(part, lost, verdict.baseline, own, score)
        more = advise_without(lost, verdict.baseline, without)
        advice = replace(advice, text=f"{advice.text} {more}")
    fitted = Model(bench.learner(advice.algorithm), pair.kind, pair.text, pair.encoder)
    if shares == "unlabeled" and found is not None:
        fitted.shares = dict(zip(np.unique(part.y), found.classes.estimate, strict=True))
    fitted.fit(pair.labeled, pair.y, part.unlabeled if advice.uses_unlabeled else None)
    sizes = len(pair.labeled), len(pair.unlabeled)
    when = separation(pair.time) if pair.time else ""
    return Audit(
        part, target, when, *sizes, inconsistency, gains, verdict, expected, kept, advice, fitted
    )


def _pair(labeled: Any, unlabeled: Any, target: str, columns: dict[str, Any]) -> Pair:
    if not isinstance(labeled, pd.DataFrame):
        return read(labeled, unlabeled, target, **columns)
    if not isinstance(unlabeled, pd.DataFrame):
        raise InputError(
            f"unlabeled must be a pandas.DataFrame like labeled, got {type(unlabeled).__name__}"
        )
    return of_frames(labeled, unlabeled, target, **columns)


def probability(part: Pair, found: Mixture | None) -> Any:
    """That each unlabeled row of the sample is inconsistent; one half if that is not known."""
    if found is None:
        return np.full(len(part.unlabeled), 0.5)
    return found.inconsistent[part.rows] if part.kind == "tabular" else found.inconsistent


def _majority(y: Any, found: Mixture | None) -> tuple[Any, float] | None:
    """The most common class, and its share; None if another one is more common among the unlabeled
    rows.
    """
    names, counts = np.unique(y, return_counts=True)
    place = counts.argmax()
    if found is not None and found.classes.estimate.argmax() != place:
        return None
    return names[place], float(counts[place] / counts.sum())


def _weights(gains: Gains, found: Mixture | None) -> Any:
    """What makes the labeled rows of each class as common as the class is among the unlabeled rows;
    None if it is as common as among the labeled ones, as far as is known.
    """
    if found is None or not found.changed.any():
        return None
    shares = found.classes.estimate
    return (shares / np.maximum(np.bincount(gains.y, minlength=len(shares)), 1))[gains.y]


def _score_without(
    pair: Pair, lost: Sequence[str], baseline: str, own: Mapping[str, Any], score: str
) -> float:
    """The score of a baseline that is not given some columns."""
    with bench_of(pair.without(lost), own) as bench:
        (found,) = by_labels(bench, baseline, [1.0]).values()
        codes = np.unique(pair.y, return_inverse=True)[1][bench.seen]
        return float(score_of(score, codes, found, np.ones((1, len(codes))))[0])
