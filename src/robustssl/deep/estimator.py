"""A scikit-learn classifier that is a net and a loss; many of them are fitted together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor
from torch.nn.functional import cross_entropy

from robustssl import registry
from robustssl.classifier import Codes, EncodedClassifier, Matrix
from robustssl.data import UNLABELED, ViewedRows
from robustssl.deep.budgets import BUDGETS
from robustssl.deep.device import Precision, device_of
from robustssl.deep.hooks import check_hooks
from robustssl.deep.inputs import Problem, inputs_of
from robustssl.deep.net import Net
from robustssl.deep.reading import are_texts, as_read, token_ids
from robustssl.deep.together import How, fit_together
from robustssl.deep.train import Mode
from robustssl.deep.trained import Trained
from robustssl.deep.types import Batch, Loss, Rows, Shape, State
from robustssl.errors import InputError, unknown
from robustssl.method import Between, Family, Shares, Space
from robustssl.spec import Count, Decay, NotNegative, Positive, check_options
from robustssl.views import LABELED_VIEWS, VIEWS, Form


@dataclass(eq=False, repr=False, kw_only=True)
class NetClassifier(EncodedClassifier):
    """A net that is trained for a number of steps, with the options that all nets share.

    net: mlp, linear, ft_transformer, wide_resnet, resnet50 or text_encoder, possibly with options,
    as in mlp[width=128]; or module:Class. `auto` is ft_transformer for rows of a table, wide_resnet
    for images and mlp for vectors of images or texts.
    batch: labeled rows in a step. clip: the largest norm of a gradient; null: no limit.
    decay: of the weights, decoupled from the gradient as in AdamW; or coupled, that is added to the
    gradient before the optimizer sees it.
    ema: the decay of the average of the parameters, which the model predicts with.
    weak: the standard deviation of the noise in a weak view of a table's rows, which should be
    standardised.
    device, precision: `auto` is a GPU if there is one, with tf32, and otherwise fp32 on the CPU.
    """

    net: str = "mlp"
    steps: Count = 500
    batch: Count = 32
    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: Positive = 2e-3
    momentum: Decay = 0.9
    schedule: Literal["cosine", "constant"] = "cosine"
    weight_decay: NotNegative = 0.01  # the default of torch.optim.AdamW
    decay: Literal["decoupled", "coupled"] = "decoupled"
    ema: Decay = 0.95
    clip: Positive | None = 1.0
    weak: NotNegative = 0.1
    device: str = "auto"
    precision: Precision = "auto"
    random_state: Any = None

    version = 2
    family: ClassVar[Family] = "deep"
    budgets: ClassVar[dict[str, dict[str, Any]]] = BUDGETS
    space: ClassVar[Space] = {  # what all nets share, beside what a method says of its own
        "learning_rate": Between(3e-4, 1e-2, log=True),
        "weight_decay": Between(1e-3, 1.0, log=True),
        "ema": (0.0, 0.9, 0.95, 0.99),
        "steps": Shares((0.25, 0.5, 1.0)),
        "ratio": (1, 2, 4, 7),
    }
    checks: ClassVar[dict[str, Any]] = {"dtype": "numeric", "allow_nd": True}
    nested: ClassVar[dict[str, registry.Kind]] = {"net": "net"}  # options whose values are specs
    takes: ClassVar[frozenset[Form]] = frozenset(get_args(Form))
    views: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[Any] = None
    combines: ClassVar[bool] = False
    refresh_every: ClassVar[int] = 0
    stages: ClassVar[tuple[str, ...]] = ("loss",)  # the loss of each stage; each trains a fresh net

    @property
    def asked(self) -> int:
        """Unlabeled rows in a step."""
        return int(self.batch * getattr(self, "ratio", 1))

    def init(self, params: Tensor, shape: Shape) -> State:
        """The state that the loss keeps from step to step, at the start. The loss also finds in it
        `average`, the averaged parameters, and `params`, the parameters in full precision.
        """
        return {}

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        """The labeled loss, the unlabeled loss and the next state. It must not draw random numbers
        nor branch on values.
        """
        labeled = cross_entropy(net(params, batch.x), batch.y)
        return labeled, torch.zeros_like(labeled), state

    def parts(
        self, build: Callable[[], torch.nn.Module], features: int, classes: int
    ) -> dict[str, torch.nn.Module]:
        """Modules that are trained beside the net: heads on its `features`, or another net, made by
        `build`.
        """
        return {}

    def inconsistency(self, net: Net, params: Tensor, rows: Tensor) -> Tensor:
        """A score for each row, higher for rows that differ more from the labeled ones; 1 - max p
        unless a method defines its own.
        """
        doubt: Tensor = 1 - net(params, rows).softmax(-1).amax(-1)
        return doubt

    def refresh(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        """The state computed again from all rows, before every `refresh_every`-th step."""
        return state

    def handover(self, net: Net, params: Tensor, rows: Rows, state: State) -> State:
        """The state with which the next stage begins, given all rows and the parameters that this
        stage would predict with.
        """
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
        tell: Callable[[float], None] = lambda share: None,
    ) -> list[Exception | None]:
        """Fit models that are equal but for their random state, each to its own X and y. Returns
        for each model the error that stopped it, or None.

        A model does not depend on the others. Where memory does not suffice, one half is trained
        after the other. If `checkpoints` is a folder, a long training that was killed continues
        from there; `tell` is called with the share of the training that is done.
        """
        return fit_together(models, problems, How(mode, checkpoints, tell))

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
            build: Any = registry.net(self.net)
            check_options(build.func, build.keywords)
        for view in self.views:
            if view not in VIEWS:
                raise unknown("view", view, VIEWS)
        check_hooks(self, DeepClassifier)

    def _encode(self, X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Matrix, Codes]:
        read = as_read(X, self.net)
        plain, codes = super()._encode(read, y)
        _check_rows(plain)
        rows: Any = read if isinstance(read, ViewedRows) else plain
        if (form := inputs_of(rows).form) not in self.takes:
            takes, name = " or ".join(sorted(self.takes)), type(self).__name__
            raise InputError(f"{name} takes rows of the form {takes}, not {form}")
        self.row_shape_ = rows.shape[1:]
        return rows, codes

    def predict_proba(self, X: npt.ArrayLike) -> Matrix:
        rows = self._rows(X)
        return np.asarray(self.model_.predict_proba(rows), float)

    def _rows(self, X: npt.ArrayLike) -> Matrix:
        check_is_fitted(self)
        X = token_ids(np.asarray(X), self.net) if are_texts(X) else X
        rows = np.asarray(validate_data(self, X, reset=False, **self.checks))
        if rows.shape[1:] != self.row_shape_:
            shape = rows.shape[1:]
            raise InputError(f"rows must have the shape {self.row_shape_} of fit, got {shape}")
        _check_rows(rows)
        return rows

    def inconsistency_score(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The method's own score of how much each row differs from the labeled rows: higher means
        more, and only the order has a meaning. All zeros if only one class had labels.
        """
        rows = self._rows(X)
        if not isinstance(self.model_, Trained):  # a constant answer, or a baseline
            inner = getattr(self.model_, "inconsistency_score", None)
            return np.zeros(len(rows)) if inner is None else np.asarray(inner(rows))
        return self.model_.answers(rows, self.inconsistency)

    def features(self, X: npt.ArrayLike) -> Matrix | None:
        """What the head of the net is given for each row; None if it has no head, or if no net was
        trained.
        """
        rows, trained = self._rows(X), self._trained
        return None if trained is None else trained.features(rows)

    def predict_proba_weak(self, X: npt.ArrayLike | ViewedRows) -> Matrix | None:
        """The probabilities of a weak view of each row, drawn alike for all models; X is as in fit.
        None if no net was trained.
        """
        read, trained = as_read(X, self.net), self._trained
        rows = read if isinstance(read, ViewedRows) else self._rows(read)
        return None if trained is None else trained.weak_proba(rows, np.random.default_rng(0))

    @property
    def _trained(self) -> Trained | None:
        """The net, maybe that of a baseline."""
        model = self.model_
        while isinstance(model, NetClassifier):
            model = model.model_
        return model if isinstance(model, Trained) else None

    def _problem(self, rows: Matrix, codes: Codes) -> Problem:
        exact = np.float64 if self.precision == "fp64" else np.float32
        if inputs_of(rows).form == "table":
            rows = rows.astype(exact)
        labeled = codes != UNLABELED
        seed = int(check_random_state(self.random_state).randint(2**31))
        unlabeled = rows[~labeled] if set(self.views) - LABELED_VIEWS else rows[:0]
        return Problem(rows[labeled], codes[labeled], unlabeled, seed)


@dataclass(eq=False, repr=False, kw_only=True)
class DeepClassifier(NetClassifier):
    """A net that also learns from unlabeled rows; a method defines its loss.

    ratio: unlabeled rows in a step for each labeled one. strong: the standard deviation of the
    noise in a strong view of a table's rows.
    """

    ratio: Count = 1
    strong: NotNegative = 0.2

    baseline = "supervised_net"

    def combine(self, labeled: Tensor, unlabeled: Tensor, state: State) -> tuple[Tensor, State]:
        """The gradient to follow, given those of both losses, and the next state: their sum, which
        needs only one backward pass, unless a method overrides this. The state also holds
        `backbone`, which is 1 for the parameters of the net and 0 for those of added parts.
        """
        return labeled + unlabeled, state

    @property
    def combines(self) -> bool:  # type: ignore[override]
        return type(self).combine is not DeepClassifier.combine

    def ramp(self, batch: Batch, share: float) -> Tensor:
        """Rises linearly from 0 to 1 over the first share of the steps."""
        return (batch.step / (share * self.steps)).clamp(max=1)

    def slow_ramp(self, batch: Batch, share: float) -> Tensor:
        """Rises from almost 0 to 1 over the first share of the steps: exp(-5 (1 - ramp)^2)."""
        return torch.exp(-5 * (1 - self.ramp(batch, share)) ** 2)


def _check_rows(rows: Matrix) -> None:
    """Refuse arrays that are neither vectors nor images."""
    if rows.ndim not in (2, 4):
        raise InputError(
            "X must be (rows, features), or images, (rows, height, width, channels), got the shape "
            f"{rows.shape}"
        )
    if rows.ndim == 4 and (rows.dtype != np.uint8 or rows.shape[3] not in (1, 3)):
        raise InputError(
            "images must be uint8, with one or three channels on the last axis, got "
            f"{rows.dtype} of shape {rows.shape}"
        )
