"""Fitting many models together: which of them share a stack, and what becomes of each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy.typing as npt
import torch

from robustssl import registry
from robustssl.classifier import Codes, Matrix, labeled_part
from robustssl.deep.checkpoints import UnreadableError, checkpoint_file, remove, save
from robustssl.deep.device import precision_of
from robustssl.deep.inputs import Inputs, Problem, inputs_of
from robustssl.deep.net import Headed, Whole
from robustssl.deep.stack import Stack
from robustssl.deep.train import Mode, take_steps, train
from robustssl.deep.trained import Trained
from robustssl.errors import InputError
from robustssl.spec import parse
from robustssl.views import Form, views_of

NETS: dict[Form, str] = {
    "table": "ft_transformer",
    "vectors": "mlp",
    "image": "wide_resnet",
}  # auto

Room = tuple[int, int]  # labeled and unlabeled rows of a model, with padding
Result = tuple[Trained | int, dict[str, Any]]  # a model or the step of its failure; `trained_with_`


@dataclass(frozen=True)
class How:
    """What the caller decides about a training; none of it changes a model."""

    mode: Mode | None = None
    checkpoints: Path | None = None
    tell: Callable[[float], None] = field(default=lambda share: None)


def fit_together(
    models: Sequence[Any], problems: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], how: How
) -> list[Exception | None]:
    """See `NetClassifier.fit_together`."""
    _check_alike(models)
    errors: list[Exception | None] = [None] * len(models)
    stacks: dict[Any, list[tuple[int, Problem]]] = {}
    baselines: dict[int, tuple[Any, tuple[Matrix, Codes]]] = {}
    for place, (model, (X, y)) in enumerate(zip(models, problems, strict=True)):
        try:
            rows, codes = model._encode(X, y)
            stand_in = model._stand_in(codes)
            if stand_in is None:
                alike = (inputs_of(rows), len(model.classes_))
                stacks.setdefault(alike, []).append((place, model._problem(rows, codes)))
            elif getattr(stand_in, "family", None) == "deep":
                baselines[place] = stand_in, (rows, codes)
            else:
                model.model_ = stand_in.fit(*labeled_part(rows, codes))
        except Exception as error:
            errors[place] = error
    _fit_baselines(models, baselines, errors, how)
    count, trained = sum(map(len, stacks.values())), list[int]()
    for (inputs, classes), members in stacks.items():
        places, chosen = zip(*members, strict=True)
        training = Training(models[0], inputs, classes, how, count, trained)
        for place, (result, trained_with) in zip(places, training.run(chosen), strict=True):
            models[place].trained_with_ = trained_with
            if isinstance(result, int):
                errors[place] = FloatingPointError(f"the loss is not finite at step {result}")
            else:
                models[place].model_ = result
    return errors


def _fit_baselines(
    models: Sequence[Any],
    baselines: Mapping[int, tuple[Any, tuple[Matrix, Codes]]],
    errors: list[Exception | None],
    how: How,
) -> None:
    """Fit the baselines of models without unlabeled rows, given by the places of these models."""
    if not baselines:
        return
    fitted, rows = zip(*baselines.values(), strict=True)
    try:
        failures = fitted[0].fit_together(fitted, rows, **vars(how))
    except Exception as error:
        failures = [error] * len(fitted)
    for place, baseline, failure in zip(baselines, fitted, failures, strict=True):
        errors[place] = failure
        models[place].model_ = baseline
        models[place].trained_with_ = getattr(baseline, "trained_with_", {})


def _check_alike(models: Sequence[Any]) -> None:
    def options(model: Any) -> Any:
        return type(model), {**model.get_params(), "random_state": None}

    if any(options(model) != options(models[0]) for model in models):
        raise InputError("models that are fitted together must be equal but for random_state")


@dataclass(frozen=True, eq=False)
class Training:
    """The training of models with the same options on rows of one kind. `count` is the number of
    models to train, of other kinds too, and `trained` holds the heights of stacks that are done.
    """

    model: Any
    inputs: Inputs
    classes: int
    how: How = How()
    count: int = 1
    trained: list[int] = field(default_factory=list)
    _last: list[tuple[Stack, Iterator[None]]] = field(default_factory=list, init=False, repr=False)

    def run(self, problems: Sequence[Problem]) -> list[Result]:
        """Train a model for each problem: in one stack, or one after the other if the net asks for
        it, each in the tensors of the one before if it fits, so that nothing is compiled twice.
        """
        name, _ = parse(self._net)
        stacks = getattr(registry.find("net", name), "stacks", True)
        parts = [problems] if stacks else [[problem] for problem in problems]
        room = max(len(p.X) for p in problems), max(1, *(len(p.unlabeled) for p in problems))
        results = [result for part in parts for result in self._stack(part, room)]
        self._last.clear()
        for part in parts:
            if (file := self._checkpoint(part)) is not None:
                remove(file)
        return results

    def _stack(self, problems: Sequence[Problem], room: Room) -> list[Result]:
        """Train a stack; where memory does not suffice, without the one before, or one half and
        then the other.
        """
        crowded = bool(self._last)
        try:
            return self._train(problems, room)
        except torch.OutOfMemoryError:
            self._last.clear()
            if not crowded and len(problems) == 1:
                raise
        if crowded:
            return self._stack(problems, room)
        half = len(problems) // 2
        return [*self._stack(problems[:half], room), *self._stack(problems[half:], room)]

    def _train(self, problems: Sequence[Problem], room: Room) -> list[Result]:
        file, (stack, taken) = self._checkpoint(problems), self._next(problems, room)
        before, height = sum(self.trained), stack.height
        try:
            train(stack, taken, file, lambda x: self.how.tell((before + x * height) / self.count))
        except UnreadableError:
            return self._train(problems, room)
        self.trained.append(height)
        results = stack.results()
        if file is not None and file.exists():
            save(stack, file)  # the process may be killed before the last stack is done
        trained_with = {
            "device": torch.cuda.get_device_name() if stack.device.type == "cuda" else "cpu",
            "precision": precision_of(self.model.precision, stack.device),
            "height": stack.height,
        }
        return [(result, trained_with) for result in results]

    def _next(self, problems: Sequence[Problem], room: Room) -> tuple[Stack, Iterator[None]]:
        """The stack before, with these problems, or another one if they do not fit; and what takes
        its steps.
        """
        stack = self.stack(problems, room)
        if not any(last.become(stack) for last, _ in self._last):
            self._last[:] = [(stack, take_steps(stack, self.how.mode))]
        return self._last[0]

    def stack(self, problems: Sequence[Problem], room: Room = (1, 1)) -> Stack:
        noise = (self.model.weak, getattr(self.model, "strong", 0.0))
        views = views_of(self.inputs.form, self.inputs.shape, noise, self.inputs.views)
        return Stack(self.model, self._build, views, problems, room)

    @property
    def _net(self) -> str:
        net: str = self.model.net
        return NETS[self.inputs.form] if net == "auto" else net

    def _build(self) -> torch.nn.Module:
        """The net, built first so that its start does not depend on the parts a method adds."""
        build = partial(registry.net(self._net), self.inputs.shape, self.classes)
        net: torch.nn.Module = build()
        width = net.head.in_features if isinstance(net, Headed) else 1
        parts = self.model.parts(build, width, self.classes)
        if parts and not isinstance(net, Headed):
            raise InputError(
                f"{type(self.model).__name__} adds heads to the net, so the net must be a "
                f"robustssl.deep.Headed, with `features` and `head`, got {self._net}"
            )
        return Whole(net, parts) if parts else net

    def _checkpoint(self, problems: Sequence[Problem]) -> Path | None:
        folder = self.how.checkpoints
        return None if folder is None else checkpoint_file(folder, self.model, problems)
