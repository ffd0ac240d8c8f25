"""Label Spreading (Zhou et al., 2004), scikit-learn's on the full RBF graph."""

from typing import Any, ClassVar

import sklearn.semi_supervised

from robustssl.algorithms._kernel import KernelVote


class LabelSpreading(KernelVote, sklearn.semi_supervised.LabelSpreading):  # type: ignore[misc]
    """F <- alpha S F + (1 - alpha) Y with S = D^-1/2 W D^-1/2, until F rests."""

    version = 1
    baseline = "supervised_xgboost"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"alpha": 0.99},
        "reference": {"gamma": 1.0, "alpha": 0.2, "max_iter": 10_000, "tol": 1e-3},
    }

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        alpha: float = 0.2,
        max_iter: int = 1000,
        tol: float = 1e-3,
    ) -> None:
        super().__init__(kernel="rbf", gamma=gamma, alpha=alpha, max_iter=max_iter, tol=tol)
