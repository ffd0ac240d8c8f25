"""A scikit-learn classifier that is a net and a loss; many of them are fitted together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor
from torch.nn.functional import cross_entropy

from robustssl import registry
from robustssl.classifier import Codes, EncodedClassifier, Matrix, labeled_part
from robustssl.data import UNLABELED, digest
from robustssl.deep.batches import Problem
from robustssl.deep.net import Headed, Net, Whole
from robustssl.deep.train import Mode, Precision, Stack, Trained, device_of, precision_of
from robustssl.deep.types import Batch, Loss, Rows, Shape, State
from robustssl.errors import InputError, unknown
from robustssl.method import Family
from robustssl.spec import Count, Decay, NotNegative, Positive, parse
from robustssl.views.families import VIEWS, views_of

BUDGETS: dict[str, dict[str, Any]] = {
    "quick": {},
    "reference": {
        "net": "auto",
        "steps": 1000,
        "batch": 64,
        "learning_rate": 1e-4,
        "schedule": "constant",
        "weight_decay": 1e-5,
        "ema": 0.999,
        "clip": None,
    },
    "full": {
        "net": "auto",
        "steps": 10_000,
        "batch": 64,
        "learning_rate": 1e-4,
        "weight_decay": 1e-5,
        "ema": 0.999,
    },
    # Of the leaderboard, one for each kind of data: docs/decisions/0009-leaderboard.md.
    "table": {"net": "mlp[width=256]", "steps": 1000},
    "image": {"net": "mlp[width=256]", "steps": 1000, "learning_rate": 5e-4},
    "text": {"steps": 1000},
}

# The net that `auto` is, by the axes of a row: features, versions of a text, an image.
NETS = {1: "ft_transformer", 2: "mlp", 3: "wide_resnet"}

KINDS = {2: "table", 3: "text", 4: "image"}  # by the axes of all rows


@dataclass(eq=False, repr=False, kw_only=True)
class NetClassifier(EncodedClassifier):
    """A net that is trained for a number of steps: what all methods of a study share.

    net: mlp, linear, ft_transformer, wide_resnet, resnet50, text_encoder, maybe with options as in
    mlp[width=128], or module:Class; auto is ft_transformer for rows of a table, wide_resnet for
    images and mlp for vectors of texts. Rows of a table should be standardised; weak is the
    deviation of the noise in a weak view of them. ema: the decay of the average of the parameters,
    which is what is served; clip: the largest norm of a gradient. auto: a GPU if there is one, tf32
    there and fp32 elsewhere.
    """

    net: str = "mlp"
    steps: Count = 500
    batch: Count = 32
    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: Positive = 2e-3
    momentum: Decay = 0.9
    schedule: Literal["cosine", "constant"] = "cosine"
    weight_decay: NotNegative = 1e-4
    ema: Decay = 0.95
    clip: Positive | None = 1.0
    weak: NotNegative = 0.1
    device: str = "auto"
    precision: Precision = "auto"
    random_state: Any = None

    family: ClassVar[Family] = "deep"
    budgets: ClassVar[dict[str, dict[str, Any]]] = BUDGETS
    checks: ClassVar[dict[str, Any]] = {"dtype": "numeric", "allow_nd": True}
    nested: ClassVar[dict[str, registry.Kind]] = {"net": "net"}  # options that are specs
    takes: ClassVar[frozenset[str]] = frozenset(KINDS.values())
    views: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[Any] = None
    combines: ClassVar[bool] = False
    refresh_every: ClassVar[int] = 0

    def init(self, params: Tensor, shape: Shape) -> State:
        """What the loss remembers from step to step. It also finds there `average`, that of the
        parameters, and `params`, themselves before they were rounded to the precision.
        """
        return {}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        """The labeled part, the unlabeled part, the next state; without chance or branching."""
        labeled = cross_entropy(net(params, batch.x), batch.y)
        return labeled, torch.zeros_like(labeled), state

    def parts(
        self, build: Callable[[], torch.nn.Module], features: int, classes: int
    ) -> dict[str, torch.nn.Module]:
        """What is trained beside the net: heads on its features, or another net by `build`."""
        return {}

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        """How unlike the labeled rows each row is; of a net that has no better idea, how unsure it
        is: 1 - max p.
        """
        doubt: Tensor = 1 - net(params, rows).softmax(-1).amax(-1)
        return doubt

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        """The state, made anew from all rows before every `refresh_every`-th step."""
        return state

    def serve(self, params: Tensor, state: State) -> Tensor:
        """The parameters to predict with."""
        return state["average"]

    @staticmethod
    def fit_together(
        models: Sequence[Any],
        problems: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        *,
        mode: Mode | None = None,
        checkpoints: Path | None = None,
        tell: Callable[[int], None] = lambda step: None,
    ) -> list[Exception | None]:
        """Fit models that differ in their random state alone, each to its own X and y; for each
        what went wrong, or None.

        The result of a model does not depend on the others. Where memory is short, half are
        trained, then the other half. In the folder `checkpoints` long training goes on where it
        was killed; `tell` hears of the steps done.
        """
        return _fit_together(models, problems, mode, checkpoints, tell)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        (error,) = self.fit_together([self], [(X, y)])
        if error is not None:
            raise error
        return self

    def _check_options(self) -> None:
        super()._check_options()
        device_of(self.device)
        if not isinstance(self.net, str):
            raise InputError(f"net must be the name of a net, such as mlp, got {self.net}")
        if self.net != "auto":
            registry.net(self.net)
        for view in self.views:
            if view not in VIEWS:
                raise unknown("view", view, VIEWS)

    def _encode(self, X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Matrix, Codes]:
        rows, codes = super()._encode(X, y)
        _check_rows(rows)
        if (kind := KINDS[rows.ndim]) not in self.takes:
            takes = " or ".join(sorted(self.takes))
            raise InputError(f"{type(self).__name__} takes rows of a {takes}, not of an {kind}")
        self.row_shape_ = rows.shape[1:]
        return rows, codes

    def predict_proba(self, X: npt.ArrayLike) -> Matrix:
        rows = self._rows(X)
        return np.asarray(self.model_.predict_proba(rows), float)

    def _rows(self, X: npt.ArrayLike) -> Matrix:
        check_is_fitted(self)
        rows = np.asarray(validate_data(self, X, reset=False, **self.checks))
        if rows.shape[1:] not in (self.row_shape_, self.row_shape_[:1]):
            raise InputError(f"rows are {rows.shape[1:]}, but it was fitted to {self.row_shape_}")
        _check_rows(rows)
        return rows

    def inconsistency_score(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """How unlike the labeled rows each row is, in the method's own opinion: the higher, the
        more; only the order means something. All zeros where one class was labeled.
        """
        rows = self._rows(X)
        if not isinstance(self.model_, Trained):  # one class alone, or a baseline
            inner = getattr(self.model_, "inconsistency_score", None)
            return np.zeros(len(rows)) if inner is None else np.asarray(inner(rows))
        return self.model_.answers(rows, self.inconsistency)

    def _problem(self, rows: Matrix, codes: Codes) -> Problem:
        exact = np.float64 if self.precision == "fp64" else np.float32
        rows = rows.astype(exact) if rows.ndim == 2 or rows.dtype.kind == "f" else rows
        labeled = codes != UNLABELED
        seed = int(check_random_state(self.random_state).randint(2**31))
        unlabeled = rows[~labeled] if self.views else rows[:0]
        return Problem(rows[labeled], codes[labeled], unlabeled, seed)


@dataclass(eq=False, repr=False, kw_only=True)
class DeepClassifier(NetClassifier):
    """A net that learns from unlabeled rows too; a method is its loss.

    ratio: unlabeled rows for each labeled one in a batch; strong: the deviation of the noise in a
    strong view of tabular rows.
    """

    ratio: Count = 1
    strong: NotNegative = 0.2

    baseline = "supervised_net"

    def combine(self, labeled: Tensor, unlabeled: Tensor) -> Tensor:
        """One gradient of two: their sum, which takes one pass, unless a method says otherwise."""
        return labeled + unlabeled

    @property
    def combines(self) -> bool:  # type: ignore[override]
        return type(self).combine is not DeepClassifier.combine

    def ramp(self, batch: Batch, share: float) -> Tensor:
        """From 0 to 1 over a share of the steps, in a straight line."""
        return (batch.step / (share * self.steps)).clamp(max=1)

    def slow_ramp(self, batch: Batch, share: float) -> Tensor:
        """From almost 0 to 1 over a share of the steps: exp(-5 (1 - x)^2)."""
        return torch.exp(-5 * (1 - self.ramp(batch, share)) ** 2)


def _check_rows(rows: Matrix) -> None:
    """Rows of a table, texts in versions, or images; each known by its axes."""
    if rows.ndim == 3 and (rows.shape[2] < 3 or rows.shape[2] % 2 == 0):
        raise InputError(
            "rows of three axes are texts in versions, (rows, features, 1 + 2 versions); images "
            "have four: (rows, height, width, channels)"
        )
    if rows.ndim == 4 and (rows.dtype != np.uint8 or rows.shape[3] not in (1, 3)):
        raise InputError(
            "images are whole numbers from 0 to 255 (uint8) with one or three channels, the last "
            f"axis; these are {rows.dtype}, {rows.shape}"
        )
    if rows.ndim > 4:
        raise InputError(f"rows have up to four axes; these have {rows.ndim}")


def _fit_together(
    models: Sequence[Any],
    problems: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
    mode: Mode | None,
    checkpoints: Path | None,
    tell: Callable[[int], None],
) -> list[Exception | None]:
    _refuse_strangers(models)
    errors: list[Exception | None] = [None] * len(models)
    stacks: dict[Any, list[tuple[int, Problem]]] = {}
    baselines: dict[int, tuple[Any, tuple[Matrix, Codes]]] = {}
    for place, (model, (X, y)) in enumerate(zip(models, problems, strict=True)):
        try:
            rows, codes = model._encode(X, y)
            stand_in = model._stand_in(codes)
            if stand_in is None:
                alike = (rows.shape[1:], len(model.classes_))
                stacks.setdefault(alike, []).append((place, model._problem(rows, codes)))
            elif isinstance(stand_in, NetClassifier):
                baselines[place] = stand_in, (rows, codes)
            else:
                model.model_ = stand_in.fit(*labeled_part(rows, codes))
        except Exception as error:
            errors[place] = error
    _fit_baselines(models, baselines, errors, mode, checkpoints, tell)
    for (shape, classes), members in stacks.items():
        places, chosen = zip(*members, strict=True)
        training = _Training(models[0], shape, classes, mode, checkpoints, tell)
        for place, (result, how) in zip(places, training.run(chosen), strict=True):
            models[place].trained_with_ = how
            if isinstance(result, int):
                errors[place] = FloatingPointError(f"the loss is not finite at step {result}")
            else:
                models[place].model_ = result
    return errors


def _fit_baselines(
    models: Sequence[Any],
    baselines: Mapping[int, tuple[Any, tuple[Matrix, Codes]]],
    errors: list[Exception | None],
    mode: Mode | None,
    checkpoints: Path | None,
    tell: Callable[[int], None],
) -> None:
    """Those of models that have no unlabeled row, by the place of each."""
    if not baselines:
        return
    fitted, rows = zip(*baselines.values(), strict=True)
    try:
        how: Any = {"mode": mode, "checkpoints": checkpoints, "tell": tell}
        failures = fitted[0].fit_together(fitted, rows, **how)
    except Exception as error:
        failures = [error] * len(fitted)
    for place, baseline, failure in zip(baselines, fitted, failures, strict=True):
        errors[place] = failure
        models[place].model_ = baseline
        models[place].trained_with_ = getattr(baseline, "trained_with_", {})


def unlabeled_gradients(model: NetClassifier, X: Matrix, y: Codes, count: int = 20) -> list[float]:
    """Norms of the gradient of the unlabeled loss, at so many steps from the first to the last."""
    rows, codes = model._encode(X, y)
    training = _Training(model, rows.shape[1:], len(model.classes_), None, None, lambda step: None)
    stack = training.stack([model._problem(rows, codes)])
    looks = set(np.linspace(0, model.steps - 1, count).astype(int).tolist())
    norms: list[float] = []
    for step in range(model.steps):
        if step % stack.batches.chunk == 0:
            stack.batches.put(stack.batches.draw())
        if model.refresh_every and step % model.refresh_every == 0:
            stack.refresh()
        if step in looks:
            norms.append(float(stack.unlabeled_gradient().norm()))
        stack.step()
    return norms


def _refuse_strangers(models: Sequence[Any]) -> None:
    def of(model: Any) -> Any:
        return type(model), {**model.get_params(), "random_state": None}

    if any(of(model) != of(models[0]) for model in models):
        raise InputError("models that are fitted together differ in their random state alone")


@dataclass(frozen=True, eq=False)
class _Training:
    """How models of one kind, on rows of one shape, are trained."""

    model: Any
    shape: tuple[int, ...]
    classes: int
    mode: Mode | None
    checkpoints: Path | None
    tell: Callable[[int], None]

    @property
    def _net(self) -> str:
        net: str = self.model.net
        return NETS[len(self.shape)] if net == "auto" else net

    def run(self, problems: Sequence[Problem]) -> list[tuple[Trained | int, dict[str, Any]]]:
        """What each model serves, or the step at which it failed; and with what it was trained."""
        name, _ = parse(self._net)
        stacks = getattr(registry.find("net", name), "stacks", True)
        parts = [problems] if stacks else [[problem] for problem in problems]
        results = [result for part in parts for result in self._stack(part)]
        for part in parts:
            if (file := self._checkpoint(part)) is not None:
                file.unlink(missing_ok=True)
        return results

    def _stack(self, problems: Sequence[Problem]) -> list[tuple[Trained | int, dict[str, Any]]]:
        try:
            return self._train(problems)
        except torch.OutOfMemoryError:
            if len(problems) == 1:
                raise
        half = len(problems) // 2
        return [*self._stack(problems[:half]), *self._stack(problems[half:])]

    def _train(self, problems: Sequence[Problem]) -> list[tuple[Trained | int, dict[str, Any]]]:
        file, stack = self._checkpoint(problems), self.stack(problems)
        stack.train(self.mode, file, self.tell)
        results = stack.results()
        if file is not None and file.exists():
            stack.save(file)  # the group may be killed before its last model is done
        how = {
            "device": torch.cuda.get_device_name() if stack.device.type == "cuda" else "cpu",
            "precision": precision_of(self.model.precision, stack.device),
            "height": stack.height,
        }
        return [(result, how) for result in results]

    def stack(self, problems: Sequence[Problem]) -> Stack:
        views = views_of(self.shape, self.model.weak, getattr(self.model, "strong", 0.0))
        return Stack(self.model, self._build, views, problems)

    def _build(self) -> torch.nn.Module:
        """The net first, so that it starts alike whatever a method adds to it."""
        build = partial(registry.net(self._net), self.shape, self.classes)
        net: torch.nn.Module = build()
        width = net.head.in_features if isinstance(net, Headed) else 1
        parts = self.model.parts(build, width, self.classes)
        if parts and not isinstance(net, Headed):
            raise InputError(
                f"{type(self.model).__name__} adds heads to the net, so the net must be a "
                f"robustssl.deep.Headed, with `features` and `head`, unlike {self._net}"
            )
        return Whole(net, parts) if parts else net

    def _checkpoint(self, problems: Sequence[Problem]) -> Path | None:
        """The file of exactly this training."""
        if self.checkpoints is None:
            return None
        params = sorted({**self.model.get_params(), "random_state": None}.items())
        who = f"{type(self.model)} {self.model.version} {params}"
        about = np.frombuffer(who.encode(), np.uint8)
        arrays = [a for p in problems for a in (p.X, p.codes, p.unlabeled, np.array(p.seed))]
        return self.checkpoints / f"{digest(about, *arrays)[:32]}.pt"
