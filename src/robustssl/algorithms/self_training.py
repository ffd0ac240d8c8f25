"""Self-training (Yarowsky, 1995), on logistic regression (scikit-learn)."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier

from robustssl.classifier import Codes, EncodedClassifier, Matrix
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, Positive, Range


@dataclass(eq=False, repr=False, kw_only=True)
class SelfTraining(EncodedClassifier):
    """Fit, label the unlabeled rows with confident guesses, and fit again, until no confident guess
    is left.

    Departures: the learner is logistic regression; threshold and rounds are scikit-learn's.
    """

    threshold: Annotated[float, Range(least=0, below=1)] = 0.75
    rounds: Count = 10
    C: Positive = 1.0

    baseline = "supervised_logistic"
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("scikit-learn/scikit-learn: sklearn/semi_supervised/_self_training.py", {})
    }
    space: ClassVar[Space] = {
        "threshold": Between(0.5, 0.99),
        "rounds": Between(1, 30, log=True),
        "C": Between(0.01, 100.0, log=True),
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        learner = LogisticRegression(C=self.C, max_iter=1000)
        model = SelfTrainingClassifier(learner, threshold=self.threshold, max_iter=self.rounds)
        return model.fit(X, codes)
