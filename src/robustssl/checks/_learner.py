"""What the contracts of an algorithm are checked on: its fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustssl import registry
from robustssl.spec import parse


@dataclass(frozen=True)
class Learner:
    """An algorithm by its spec; every fit makes a new estimator."""

    spec: str

    @property
    def supervised(self) -> bool:
        return bool(getattr(self._kind, "supervised", False))

    @property
    def deep(self) -> bool:
        return getattr(self._kind, "family", None) == "deep"

    @property
    def collapses(self) -> Mapping[str, str]:
        """The kinds of data on which the method is known to collapse, and why."""
        known: Mapping[str, str] = getattr(self._kind, "collapses", {})
        return known

    @property
    def _kind(self) -> type:
        return registry.algorithm(parse(self.spec)[0])

    def fit(self, X: Any, y: Any, seed: int = 0) -> Any:
        return estimator(self.spec, seed).fit(X, y)

    def fit_all(self, problems: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Exception | None]]:
        """For each X and y a model, with seeds 0, 1, ..., and the error of its fit; nets are
        fitted together.
        """
        models = [estimator(self.spec, seed) for seed in range(len(problems))]
        if self.deep:
            errors = models[0].fit_together(models, problems)
        else:
            errors = [
                _error(model, *problem) for model, problem in zip(models, problems, strict=True)
            ]
        return list(zip(models, errors, strict=True))


def _error(model: Any, X: Any, y: Any) -> Exception | None:
    try:
        model.fit(X, y)
    except Exception as error:
        return error
    return None


def estimator(spec: str, seed: int) -> Any:
    """The estimator that a spec names, with a seed if it takes one."""
    name, options = parse(spec)
    model = registry.estimator(name, **options)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model
