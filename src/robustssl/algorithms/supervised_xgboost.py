"""XGBoost (Chen & Guestrin, 2016, arXiv:1603.02754) on the labeled rows alone."""

from dataclasses import dataclass
from typing import Any, ClassVar

from xgboost import XGBClassifier

from robustssl.classifier import Codes, Matrix, SupervisedClassifier
from robustssl.method import Between, Space
from robustssl.spec import Count, Positive


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedXGBoost(SupervisedClassifier):
    """Gradient-boosted trees on the labeled rows alone."""

    n_estimators: Count = 100
    max_depth: Count = 6
    learning_rate: Positive = 0.3
    random_state: int | None = None
    space: ClassVar[Space] = {
        "n_estimators": Between(30, 200, log=True),
        "max_depth": Between(2, 8),
        "learning_rate": Between(0.03, 0.5, log=True),
    }

    def _learn(self, X: Matrix, codes: Codes) -> Any:
        return XGBClassifier(**self.get_params(), tree_method="hist", n_jobs=1).fit(X, codes)
