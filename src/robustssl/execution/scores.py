"""The scores of a fitted model."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

from robustssl.data import Pools, Split


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
