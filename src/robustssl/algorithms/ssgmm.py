"""Semi-supervised Gaussian mixture by EM (Shahshahani & Landgrebe, 1994)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from robustssl.algorithms._gaussians import Covariance, Gaussians
from robustssl.classifier import Codes, EncodedClassifier, Matrix, one_hot
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class SSGMM(EncodedClassifier):
    """One Gaussian per class. Unlabeled rows belong to class k with a weight proportional to
    share_k N(u | mean_k, covariance_k), labeled rows to their own class. Shares, means and
    covariances are computed from the weights and the weights from them, in turn, until the shares
    change by less than tol.

    covariance, shrinkage: as in supervised_gaussian.

    Departures: covariances have a prior, whose influence falls as rows are added; without one, five
    labels in thirteen dimensions give singular covariances.
    """

    covariance: Covariance = "full"
    shrinkage: NotNegative = 1.0
    rounds: Count = 300
    tol: NotNegative = 1e-5

    baseline = "supervised_gaussian"
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Shahshahani and Landgrebe 1994, section 3", {"shrinkage": 0.0}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/SSGMM.py", {"rounds": 300, "tol": 1e-5}
        ),
    }
    space: ClassVar[Space] = {
        "covariance": ("full", "diag", "tied"),
        "shrinkage": Between(0.1, 10.0, log=True),
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
