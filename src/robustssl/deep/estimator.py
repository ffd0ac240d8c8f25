"""A scikit-learn classifier that is a net and a loss; many of them are fitted together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils import check_random_state
from torch import Tensor
from torch.nn.functional import cross_entropy

from robustssl import registry
from robustssl.classifier import Codes, EncodedClassifier, Matrix
from robustssl.data import UNLABELED, digest
from robustssl.deep.batches import Problem
from robustssl.deep.net import Net
from robustssl.deep.train import Mode, Stack, device_of, precision_of
from robustssl.deep.types import Batch, Loss, Rows, Shape, State
from robustssl.deep.views import views_of
from robustssl.errors import InputError, unknown

BUDGETS: dict[str, dict[str, Any]] = {
    "quick": {},
    "reference": {
        "net": "ft_transformer",
        "steps": 1000,
        "batch": 64,
        "learning_rate": 1e-4,
        "schedule": "constant",
        "weight_decay": 1e-5,
        "ema": 0.999,
        "clip": None,
    },
    "full": {
        "net": "ft_transformer",
        "steps": 10_000,
        "batch": 64,
        "learning_rate": 1e-4,
        "weight_decay": 1e-5,
        "ema": 0.999,
    },
}

CHOICES = {"optimizer": ("adam", "sgd"), "schedule": ("cosine", "constant")}


@dataclass(eq=False, repr=False, kw_only=True)
class NetClassifier(EncodedClassifier):
    """A net that is trained for a number of steps: what all methods of a study share.

    net: a name of `nets`, or module:Class; weak: the deviation of the noise in a weak view of
    tabular rows; ema: the decay of the average of the parameters, which is what is served; clip:
    the largest norm of a gradient. auto: a GPU if there is one, tf32 there and fp32 elsewhere.
    """

    net: str = "mlp"
    steps: int = 500
    batch: int = 32
    optimizer: str = "adam"
    learning_rate: float = 2e-3
    momentum: float = 0.9
    schedule: str = "cosine"
    weight_decay: float = 1e-4
    ema: float = 0.99
    clip: float | None = 1.0
    weak: float = 0.1
    device: str = "auto"
    precision: str = "auto"
    random_state: Any = None

    budgets: ClassVar[dict[str, dict[str, Any]]] = BUDGETS
    checks: ClassVar[dict[str, Any]] = {"dtype": "numeric", "allow_nd": True}
    views: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[Any] = None
    combines: ClassVar[bool] = False
    refresh_every: ClassVar[int] = 0

    def init(self, params: Tensor, shape: Shape) -> State:
        """What the loss remembers from step to step; `average`, that of the parameters, is there
        anyway.
        """
        return {}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        """The labeled part, the unlabeled part, the next state; without chance or branching."""
        labeled = cross_entropy(net(params, batch.x), batch.y)
        return labeled, torch.zeros_like(labeled), state

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        """The state, made anew from all rows before every `refresh_every`-th step."""
        return state

    def serve(self, params: Tensor, state: State) -> Tensor:
        """The parameters to predict with."""
        return state["average"]

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        (error,) = fit_together([self], [(X, y)])
        if error is not None:
            raise FloatingPointError(error)
        return self

    def _check_options(self) -> None:
        super()._check_options()
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise unknown(name, str(getattr(self, name)), choices)
        precision_of(self.precision, device_of(self.device))

    def _problem(self, rows: Matrix, codes: Codes) -> Problem:
        exact = np.float64 if self.precision == "fp64" else np.float32
        rows = rows.astype(exact) if rows.ndim == 2 or rows.dtype.kind == "f" else rows
        labeled = codes != UNLABELED
        seed = int(check_random_state(self.random_state).randint(2**31))
        return Problem(rows[labeled], codes[labeled], rows[~labeled], seed)


@dataclass(eq=False, repr=False, kw_only=True)
class DeepClassifier(NetClassifier):
    """A net that learns from unlabeled rows too; a method is its loss.

    ratio: unlabeled rows for each labeled one in a batch; strong: the deviation of the noise in a
    strong view of tabular rows.
    """

    ratio: int = 1
    strong: float = 0.2

    baseline = "supervised_net"

    def combine(self, labeled: Tensor, unlabeled: Tensor) -> Tensor:
        """One gradient of two: their sum, which takes one pass, unless a method says otherwise."""
        return labeled + unlabeled

    @property
    def combines(self) -> bool:  # type: ignore[override]
        return type(self).combine is not DeepClassifier.combine

    def ramp(self, batch: Batch, share: float) -> Tensor:
        """From 0 to 1 over a share of the steps."""
        return (batch.step / (share * self.steps)).clamp(max=1)


def fit_together(
    models: Sequence[Any],
    problems: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
    *,
    mode: Mode | None = None,
    checkpoints: Path | None = None,
    tell: Callable[[int], None] = lambda step: None,
) -> list[str | None]:
    """Fit models that differ in their random state alone, each to its own X and y; for each what
    went wrong, or None.

    The result of a model does not depend on the others. Where memory is short, half are trained,
    then the other half. In the folder `checkpoints` long training goes on where it was killed.
    """
    _refuse_strangers(models)
    errors: list[str | None] = [None] * len(models)
    stacks: dict[Any, list[tuple[int, Problem]]] = {}
    for place, (model, (X, y)) in enumerate(zip(models, problems, strict=True)):
        rows, codes = model._encode(X, y)
        model.model_ = model._simple(rows, codes)
        if model.model_ is None:
            alike = (rows.shape[1:], len(model.classes_))
            stacks.setdefault(alike, []).append((place, model._problem(rows, codes)))
    for (shape, classes), members in stacks.items():
        places, chosen = zip(*members, strict=True)
        for place, result in zip(
            places, _train(models[0], shape, classes, chosen, mode, checkpoints, tell), strict=True
        ):
            if isinstance(result, int):
                errors[place] = f"the loss is not finite at step {result}"
            else:
                models[place].model_ = result
    return errors


def _refuse_strangers(models: Sequence[Any]) -> None:
    first = {**models[0].get_params(), "random_state": None}
    for model in models:
        if (
            type(model) is not type(models[0])
            or {**model.get_params(), "random_state": None} != first
        ):
            raise InputError("models that are fitted together differ in their random state alone")


def _train(
    model: Any,
    shape: tuple[int, ...],
    classes: int,
    problems: Sequence[Problem],
    mode: Mode | None,
    checkpoints: Path | None,
    tell: Callable[[int], None],
) -> list[Any]:
    name, options = registry.parse(model.net)
    found = registry.find("net", name)
    views = views_of(shape, model.weak, getattr(model, "strong", 0.0))

    def build() -> torch.nn.Module:
        net: torch.nn.Module = found(shape, classes, **options)
        return net

    def train(problems: Sequence[Problem]) -> list[Any]:
        file = None
        if checkpoints is not None:
            arrays = [a for p in problems for a in (p.X, p.codes, p.unlabeled, np.array(p.seed))]
            params = repr(sorted({**model.get_params(), "random_state": None}.items()))
            about = np.frombuffer(f"{type(model).__name__} {params}".encode(), np.uint8)
            file = checkpoints / f"{digest(about, *arrays)}.pt"
        try:
            stack = Stack(model, build, views, problems)
            stack.train(mode, file, tell)
            results = stack.results()
        except torch.OutOfMemoryError:
            if len(problems) == 1:
                raise
            half = len(problems) // 2
            stack = None
            return [*train(problems[:half]), *train(problems[half:])]
        if file is not None:
            file.unlink(missing_ok=True)
        return results

    if getattr(found, "stacks", True):
        return train(problems)
    return [result for problem in problems for result in train([problem])]
