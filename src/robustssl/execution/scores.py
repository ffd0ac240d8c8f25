"""The scores of a fitted model."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

from robustssl.data import UNLABELED, Pools, Split
from robustssl.records.record import CRITERIA

ROWS = 2000  # unlabeled rows that criteria are computed from, at most


def scores_of(model: Any, split: Split, predicted: npt.NDArray[Any]) -> dict[str, float]:
    truth = split.y_test
    scores = {
        "accuracy": accuracy_score(truth, predicted),
        "balanced_accuracy": balanced_accuracy_score(truth, predicted),
        "macro_f1": f1_score(truth, predicted, average="macro"),
    }
    if hasattr(model, "predict_proba") and set(truth) == set(model.classes_):
        p = model.predict_proba(split.X_test)
        p = p[:, 1] if p.shape[1] == 2 else p
        scores["auroc"] = roc_auc_score(truth, p, multi_class="ovr", labels=model.classes_)
    return {name: float(value) for name, value in scores.items()}


def detection_of(model: Any, split: Split, aside: npt.NDArray[Any]) -> dict[str, float]:
    """How well the method's own score tells inconsistent rows, which no split uses, from test
    rows.
    """
    if not len(aside) or not hasattr(model, "inconsistency_score"):
        return {}
    parts = [model.inconsistency_score(X) for X in (split.X_test, aside)]
    inconsistent = np.repeat([0, 1], [len(part) for part in parts])
    return {"detection": float(roc_auc_score(inconsistent, np.concatenate(parts)))}


def accuracy_there(model: Any, pools: Pools, aside: npt.NDArray[Any]) -> dict[str, float]:
    """The accuracy on inconsistent rows, which no split uses. There is none where no row is set
    aside, nor where one is of a class without labels: no method could name it.
    """
    truth = pools.data.y[pools.aside]
    if not len(aside) or not np.isin(truth, pools.data.y[pools.labeled]).all():
        return {}
    return {"accuracy_there": float(accuracy_score(truth, model.predict(aside)))}


def label_free(model: Any, split: Split) -> dict[str, float]:
    """Scores of the unlabeled rows that need no label: `confidence`, minus the mean entropy of the
    probabilities; `bnm` of the probabilities; of nets also `rankme` of the features and
    `agreement`, the share of rows that have the same class as a weak view of them. One that is not
    defined is left out.
    """
    rows = _sample(np.flatnonzero(split.y == UNLABELED))
    if not len(rows) or not hasattr(model, "predict_proba"):
        return {}
    X = split.X[rows]
    p = np.asarray(model.predict_proba(np.asarray(X)), float)
    found = {"confidence": float(xlogy(p, p).sum(1).mean()), "bnm": bnm(p)}
    if getattr(model, "family", None) == "deep":
        if (features := model.features(np.asarray(X))) is not None:
            found["rankme"] = rankme(features)
        if (weak := model.predict_proba_weak(X)) is not None:
            found["agreement"] = float((weak.argmax(1) == p.argmax(1)).mean())
    return {name: x for name, x in found.items() if CRITERIA[name][0] <= x <= CRITERIA[name][1]}


def _sample(rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Rows at even distances, the same places at every t: inconsistent rows come first."""
    places = np.linspace(0, len(rows) - 1, min(len(rows), ROWS)).round().astype(int)
    return np.asarray(rows[places])


def bnm(p: npt.NDArray[np.float64]) -> float:
    """The nuclear norm of the probabilities, (rows, classes), divided by its largest value: 1 where
    every answer is certain and all classes are as frequent (batch nuclear-norm maximization, Cui et
    al., 2020, arXiv:2003.12237).
    """
    largest = np.sqrt(len(p) * min(p.shape))
    return min(float(np.linalg.norm(p, "nuc") / largest), 1.0)


def rankme(features: npt.NDArray[np.float64]) -> float:
    """The effective rank of features, (rows, width): exp of the entropy of their singular values,
    divided by their sum (Garrido et al., 2023, arXiv:2210.02885).
    """
    values = np.linalg.svd(features, compute_uv=False)
    if not (total := values.sum()) > 0:
        return np.nan
    return float(np.exp(-xlogy(values / total, values / total).sum()))
