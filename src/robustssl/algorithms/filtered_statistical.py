"""A filter in front of a statistical method (energy: Liu et al., 2020, arXiv:2010.03759; nearest
neighbour: Sun et al., 2022, arXiv:2204.06507; classifier of two samples: Lopez-Paz & Oquab, 2017,
arXiv:1610.06545).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.utils import check_random_state

from robustssl import registry
from robustssl.algorithms import _filter
from robustssl.classifier import Codes, EncodedClassifier, Matrix
from robustssl.errors import InputError
from robustssl.method import Space
from robustssl.spec import parse


@dataclass(eq=False, repr=False, kw_only=True)
class FilteredStatistical(EncodedClassifier):
    """Detection apart from learning: unlabeled rows that look inconsistent with the labeled ones
    are dropped, and another method learns from the others. See `filtered`, which does this in front
    of deep methods.

    base: the method, possibly with options, as in self_training[threshold=0.9].
    by: `energy` of the logits of logistic regressions that learned the labeled rows; `knn`, the
    distance to the nearest labeled row; `adversarial`, the answer of a classifier that tells
    labeled from unlabeled rows.

    Departures: as in `filtered`; the logits are those of a logistic regression, whatever the base,
    since most statistical methods have none.
    """

    base: str = "self_training"
    by: _filter.By = "energy"
    random_state: int | None = None

    baseline = "base"  # the baseline of the base
    nested: ClassVar = {"base": "algorithm"}
    space: ClassVar[Space] = {"by": ("energy", "knn", "adversarial")}

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        keep = _filter.kept(codes, self._scores(X, codes))
        return self._made(self.base).fit(X[keep], codes[keep])

    def _scores(self, X: Matrix, codes: Codes) -> _filter.Scores:
        if self.by == "energy":
            return _filter.logistic_energy(X, codes)
        seed = check_random_state(self.random_state).randint(2**31)
        return _filter.distance_scores(self.by, X, codes, seed)

    def _matched(self, name: str) -> Any:
        """The baseline of the base."""
        return self._made(
            str(registry.matched_baseline(registry.canonical("algorithm", self.base)))
        )

    def _made(self, spec: str) -> Any:
        """A method with the random state of this one, if it takes one."""
        model = registry.estimator(spec)
        if "random_state" in model.get_params():
            model.set_params(random_state=self.random_state)
        return model

    def _check_options(self) -> None:
        super()._check_options()
        if not isinstance(self.base, str):
            raise InputError(f"base must be the name of a method, got {self.base}")
        known = registry.about("algorithm", parse(self.base)[0])
        if known.family == "deep" or known.supervised:
            raise InputError(
                "base must be a statistical method that learns from unlabeled rows, got "
                f"{self.base}; for deep methods there is filtered"
            )
        self._made(self.base)._check_options()
