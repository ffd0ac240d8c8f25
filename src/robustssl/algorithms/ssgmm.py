"""Semi-supervised Gaussian mixture by EM (Shahshahani & Landgrebe, 1994)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from robustssl.algorithms._gaussians import Covariance, Gaussians
from robustssl.classifier import Codes, EncodedClassifier, Matrix, one_hot
from robustssl.spec import Count, NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class SSGMM(EncodedClassifier):
    """One Gaussian a class; unlabeled rows belong to class k with weight
    g_k in proportion to share_k N(u | mean_k, covariance_k), labeled rows to theirs; shares, means
    and covariances follow from the weights, and the weights from them, until the shares rest.

    covariance, shrinkage: as in supervised_gaussian. The authors had rows enough to do without a
    prior; five labels in thirteen dimensions are singular, so there is one here, which fades as
    rows are added.
    """

    covariance: Covariance = "full"
    shrinkage: NotNegative = 1.0
    rounds: Count = 300
    tol: NotNegative = 1e-5

    baseline = "supervised_gaussian"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"shrinkage": 0.0},
        "reference": {"rounds": 300, "tol": 1e-5},
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        labeled, weights = codes >= 0, one_hot(codes)
        model = Gaussians.fit(X[labeled], weights[labeled], self.covariance, self.shrinkage)
        for _ in range(self.rounds):
            weights[~labeled] = model.predict_proba(X[~labeled])
            before, model = model, Gaussians.fit(X, weights, self.covariance, self.shrinkage)
            if np.abs(model.shares / before.shares - 1).max() <= self.tol:
                break
        return model
