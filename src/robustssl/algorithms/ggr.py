"""Gradient rectification (GGR) of any deep method: nothing opposes the labeled gradient."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import torch
from torch import nn

from robustssl import registry
from robustssl.deep import Batch, DeepClassifier, Loss, Net, Rows, Shape, State, Tensor
from robustssl.errors import InputError
from robustssl.spec import parse


@dataclass(eq=False, repr=False, kw_only=True)
class GGR(DeepClassifier):
    """Another method, whose unlabeled gradient loses the part that opposes the labeled gradient:
    g_u - min(<g_l, g_u>, 0) / |g_l|^2 g_l.

    base: the method, possibly with options, as in uda[threshold=0.7]. Options that both have, such
    as steps or ratio, are given to ggr.
    """

    base: str = "fixmatch"

    nested: ClassVar = {**DeepClassifier.nested, "base": "algorithm"}
    targets: ClassVar[dict[str, str]] = {
        "distribution": "the abstract",
        "feature": "the abstract",
        "label": "the abstract",
    }

    @property
    def _base(self) -> Any:
        if not isinstance(self.base, str):
            raise InputError(
                f"base must be the name of a deep method, such as fixmatch, got {self.base}"
            )
        mine = {k: v for k, v in self.get_params(deep=False).items() if k != "base"}
        made = _made(self.base, tuple(sorted({**mine, "random_state": None}.items())))
        if hasattr(self, "classes_"):
            made.classes_ = self.classes_
        return made

    @property
    def takes(self) -> frozenset[str]:  # type: ignore[override]
        takes: frozenset[str] = self._base.takes
        return takes

    @property
    def views(self) -> tuple[str, ...]:  # type: ignore[override]
        views: tuple[str, ...] = self._base.views
        return views

    @property
    def noise(self) -> Any:
        return self._base.noise

    @property
    def refresh_every(self) -> int:  # type: ignore[override]
        return int(self._base.refresh_every)

    def init(self, params: Tensor, shape: Shape) -> State:
        state: State = self._base.init(params, shape)
        return state

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        parts: dict[str, nn.Module] = self._base.parts(build, features, classes)
        return parts

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        loss: Loss = self._base.loss(net, params, batch, state)
        return loss

    def combine(self, labeled: Tensor, unlabeled: Tensor) -> Tensor:
        against = (labeled * unlabeled).sum().clamp(max=0)
        share = against / labeled.square().sum().clamp(min=torch.finfo(labeled.dtype).tiny)
        return labeled + unlabeled - share * labeled

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        after: State = self._base.refresh(net, params, rows, state)
        return after

    def serve(self, params: Tensor, state: State) -> Tensor:
        served: Tensor = self._base.serve(params, state)
        return served

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        score: Tensor = self._base.inconsistency(net, params, rows)
        return score

    def _check_options(self) -> None:
        super()._check_options()
        self._base._check_options()


@lru_cache(maxsize=16)
def _made(spec: str, shared: tuple[tuple[str, Any], ...]) -> DeepClassifier:
    name, options = parse(registry.canonical("algorithm", spec))
    kind = registry.algorithm(name)
    if not issubclass(kind, DeepClassifier):
        raise InputError(f"base must be a deep method that learns from unlabeled rows, got {name}")
    for option, value in options.items():
        if dict(shared).get(option, value) != value:
            raise InputError(f"give {option} to ggr, which shares it with its base")
    model: DeepClassifier = registry.estimator(name, **{**dict(shared), **options})
    if model.combines:
        raise InputError(f"base must not combine gradients in its own way, as {name} does")
    return model
