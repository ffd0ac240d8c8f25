"""What a deep method needs that changes how another deep method is trained."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from torch import nn

from robustssl import registry
from robustssl.deep import Batch, DeepClassifier, Loss, Net, Rows, Shape, State, Tensor
from robustssl.errors import InputError
from robustssl.spec import Count, parse


@dataclass(eq=False, repr=False, kw_only=True)
class Wrapped(DeepClassifier):
    """base: the method, possibly with options, as in uda[threshold=0.7]. Options that both have,
    such as steps, are given to the outer method. ratio: null is the ratio of the base.
    """

    base: str = "fixmatch"
    ratio: Count | None = None  # type: ignore[assignment]

    nested: ClassVar = {**DeepClassifier.nested, "base": "algorithm"}
    own: ClassVar[tuple[str, ...]] = ("base",)  # options that are not shared with the base

    @property
    def _base(self) -> Any:
        if not isinstance(self.base, str):
            raise InputError(
                f"base must be the name of a deep method, such as fixmatch, got {self.base}"
            )
        mine = {k: v for k, v in self.get_params(deep=False).items() if k not in self.own}
        if self.ratio is None:
            del mine["ratio"]
        shared = tuple(sorted({**mine, "random_state": None}.items()))
        made = _made(type(self).__name__.lower(), self.base, shared)
        if hasattr(self, "classes_"):
            made.classes_ = self.classes_
        return made

    def __getattr__(self, name: str) -> Any:
        """The losses of the stages of the base, besides `loss`."""
        if name.startswith("_") or name.endswith("_") or name not in self._base.stages:
            raise AttributeError(name)
        return getattr(self._base, name)

    @property
    def asked(self) -> int:
        return int(self._base.asked)

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
    def combines(self) -> bool:  # type: ignore[override]
        return bool(self._base.combines)

    @property
    def refresh_every(self) -> int:  # type: ignore[override]
        return int(self._base.refresh_every)

    @property
    def stages(self) -> tuple[str, ...]:  # type: ignore[override]
        stages: tuple[str, ...] = self._base.stages
        return stages

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

    def combine(self, labeled: Tensor, unlabeled: Tensor, state: State) -> tuple[Tensor, State]:
        combined: tuple[Tensor, State] = self._base.combine(labeled, unlabeled, state)
        return combined

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        after: State = self._base.refresh(net, params, rows, state)
        return after

    def handover(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        after: State = self._base.handover(net, params, rows, state)
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
def _made(outer: str, spec: str, shared: tuple[tuple[str, Any], ...]) -> DeepClassifier:
    name, options = parse(registry.canonical("algorithm", spec))
    kind = registry.algorithm(name)
    if not issubclass(kind, DeepClassifier):
        raise InputError(f"base must be a deep method that learns from unlabeled rows, got {name}")
    for option, value in options.items():
        if dict(shared).get(option, value) != value:
            raise InputError(f"give {option} to {outer}, which shares it with its base")
    model: DeepClassifier = registry.estimator(name, **{**dict(shared), **options})
    return model
