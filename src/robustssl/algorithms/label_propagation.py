"""Label Propagation (Zhu & Ghahramani, 2002), scikit-learn's on the full RBF graph."""

from typing import Any, ClassVar

import sklearn.semi_supervised

from robustssl.algorithms._kernel import KernelVote


class LabelPropagation(KernelVote, sklearn.semi_supervised.LabelPropagation):  # type: ignore[misc]
    """F <- PF with the labeled rows clamped, P the row-normalised RBF kernel, until F rests."""

    version = 1
    baseline = "supervised_xgboost"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "reference": {"gamma": 1.0, "max_iter": 10_000, "tol": 1e-3}
    }

    def __init__(self, *, gamma: float = 1.0, max_iter: int = 1000, tol: float = 1e-3) -> None:
        super().__init__(kernel="rbf", gamma=gamma, max_iter=max_iter, tol=tol)
