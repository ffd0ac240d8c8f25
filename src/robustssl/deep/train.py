"""The one loop: a stack of models, their gradients by vmap, one element-wise update for all."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.utils._pytree import tree_map

from robustssl.deep import optimizers
from robustssl.deep.batches import BLOCK, Batches, Problem, start
from robustssl.deep.net import Net
from robustssl.deep.types import Batch, Rows, Shape, State
from robustssl.errors import InputError
from robustssl.views.families import Views

Mode = Literal["eager", "graph", "compile"]
Precision = Literal["auto", "fp64", "fp32", "tf32", "bf16"]

# Steps from which on compiling, about a minute, saves more than it takes.
COMPILE_PAYS = {"stacked": 5_000, "alone": 15_000}
CHECKPOINT_SECONDS = 60.0
MANY = 2**21  # parameters of a stack; for fewer, threads wait for each other more than they help
WARM_UP = 3  # steps before a graph is captured

PRECISIONS = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
}


def device_of(asked: str) -> torch.device:
    """The device named; `auto` is a GPU if there is one."""
    if asked == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(asked)
    except RuntimeError as error:
        raise InputError(f"there is no device {asked!r}: write auto, cpu or cuda") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device={asked} was asked for, and this machine has no such GPU")
    return device


def precision_of(asked: str, device: torch.device) -> str:
    if asked == "auto":
        return "tf32" if device.type == "cuda" else "fp32"
    return asked


@dataclass(frozen=True, eq=False)
class Trained:
    """A net with the parameters it serves."""

    net: Net
    params: Tensor
    statistics: dict[str, Tensor]
    views: Views
    device: str

    def predict_proba(self, X: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return self.answers(X, lambda net, params, rows: net(params, rows).double().softmax(-1))

    def answers(
        self, X: npt.NDArray[Any], answer: Callable[[Net, Tensor, Tensor], Tensor]
    ) -> npt.NDArray[np.float64]:
        """What a function of net, parameters and rows makes of X."""
        device = device_of(self.device)
        size = 2048 if getattr(self.net.module, "stacks", True) else 256  # rows at once
        params = self.params.to(device)
        statistics = {name: value.to(device) for name, value in self.statistics.items()}
        self.net.module.to(device)
        net, found = self.net.served(statistics), []
        with torch.inference_mode():
            for first in range(0, len(X), size):
                part = np.ascontiguousarray(X[first : first + size])
                rows = torch.from_numpy(part).to(device)
                rows = self.net.prepare(self.views.plain(rows)).to(params.dtype)
                found.append(answer(net, params, rows).double().cpu())
        return np.asarray(torch.cat(found))


def _refuse_own_constants(nets: Sequence[nn.Module]) -> None:
    """What is not trained is shared by a stack, so it must not depend on the seed."""

    def constants(net: nn.Module) -> list[Tensor]:
        return [*net.buffers(), *(p for p in net.parameters() if not p.requires_grad)]

    first = constants(nets[0])
    for net in nets[1:]:
        if not all(map(torch.equal, first, constants(net))):
            raise InputError(
                f"{type(net).__name__} has frozen parameters or buffers of its own for every seed, "
                "which a stack would share: give it `stacks = False`"
            )


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Stack:
    """Models of one kind, trained together; row m of every tensor is model m's."""

    def __init__(
        self, model: Any, build: Callable[[], nn.Module], views: Views, problems: Sequence[Problem]
    ) -> None:
        self.model, self.views, self.height = model, views, len(problems)
        self.asked = model.batch * getattr(model, "ratio", 1)  # unlabeled rows a step
        self.device = device_of(model.device)
        precision = precision_of(model.precision, self.device)
        torch.backends.cuda.matmul.allow_tf32 = precision in ("tf32", "bf16")
        torch.backends.cudnn.allow_tf32 = precision in ("tf32", "bf16")
        torch.backends.cudnn.benchmark = True  # shapes never change
        nets = [start(build, problem.seed) for problem in problems]
        _refuse_own_constants(nets)
        self.net = Net(nets[0], PRECISIONS[precision])
        exact = self.net.exact
        self.decays = self.net.decays.to(self.device, exact)
        self.params = torch.stack([self.net.pack(net) for net in nets]).to(self.device, exact)
        self.net.to(self.device)
        self.average = self.params.clone()
        self.moments = optimizers.moments(model.optimizer, self.params)
        self.batches = Batches(
            problems,
            views,
            (model.batch, self.asked),
            model.views,
            self._noise(problems[0]),
            self.net.prepare,
            (self.device, exact),
        )
        self.classes = 1 + max(int(problem.codes.max()) for problem in problems)
        row = tuple(self._one(problems[0]).shape)
        shape = Shape(self.batches.unlabeled.shape[1], row, self.classes, model.steps)
        self.state: State = self._mapped(partial(model.init, shape=shape))(self.params)
        self.state = {name: value.clone() for name, value in self.state.items()}
        self.step_number = torch.zeros(1, dtype=torch.long, device=self.device)
        self.failed = torch.full((self.height,), -1, dtype=torch.long, device=self.device)
        self.losses = torch.zeros(self.height, 2, dtype=exact, device=self.device)
        self.done = 0

    def _noise(self, problem: Problem) -> Any:
        if self.model.noise is None:
            return None
        shape = (self.asked, *self._one(problem).shape)
        return lambda rng, steps: self.model.noise(rng, (steps, *shape))

    def _one(self, problem: Problem) -> Tensor:
        """A row as the net sees it."""
        row = torch.from_numpy(problem.X[:1]).to(self.device)
        return self.net.prepare(self.views.plain(row))[0]

    def forward(self, params: Tensor) -> tuple[Tensor, Tensor, State]:
        """The two losses of every model in the batch of this step, and their next state."""

        def of_one(params: Tensor, fields: dict[str, Tensor], state: State) -> Any:
            return self.model.loss(self.net, params, Batch(**fields), state)

        with torch.no_grad():
            fields = self.batches.at(self.step_number)
        state = {**self.state, "average": self.average, "params": self.params}
        found: tuple[Tensor, Tensor, State] = self._mapped(of_one)(params, fields, state)
        return found

    def gradient(self, params: Tensor, labeled: Tensor, unlabeled: Tensor) -> Tensor:
        """Of every model its own: what others lose does not depend on its parameters."""
        if not self.model.combines:
            return torch.autograd.grad((labeled + unlabeled).sum(), params)[0]
        (of_labeled,) = torch.autograd.grad(labeled.sum(), params, retain_graph=True)
        (of_unlabeled,) = torch.autograd.grad(unlabeled.sum(), params)
        combined: Tensor = self._mapped(self.model.combine)(of_labeled, of_unlabeled)
        return combined

    def unlabeled_gradient(self) -> Tensor:
        """Of the unlabeled loss alone, at this step: zeros where it does not move a parameter."""
        params = self.params.to(self.net.dtype).detach().requires_grad_()
        with torch.enable_grad():
            _, unlabeled, _ = self.forward(params)
            if not unlabeled.requires_grad:
                return torch.zeros_like(params)
            (gradient,) = torch.autograd.grad(unlabeled.sum(), params, allow_unused=True)
        return torch.zeros_like(params) if gradient is None else gradient

    def step(self, forward: Any = None, update: Any = None) -> None:
        """One step of every model, in place."""
        params = self.params.to(self.net.dtype).detach().requires_grad_()
        with torch.enable_grad():
            labeled, unlabeled, after = (forward or self.forward)(params)
            gradient = self.gradient(params, labeled, unlabeled)
        losses = torch.stack([labeled, unlabeled], 1).detach()
        after = {name: after[name].detach() for name in self.state}
        with torch.no_grad():
            (update or self.update)(gradient, losses, after)

    def update(self, gradient: Tensor, losses: Tensor, after: State) -> None:
        """A model whose loss is not finite stays as it is from that step on."""
        model, step = self.model, self.step_number.to(self.params.dtype)
        gradient = gradient.to(self.params.dtype)
        norm = gradient.norm(dim=1)
        alive = self.failed < 0
        fine = losses.sum(1).isfinite() & norm.isfinite()
        self.failed.copy_(torch.where(alive & ~fine, self.step_number, self.failed))
        alive = (alive & fine)[:, None]
        if model.clip is not None:
            gradient = gradient * (model.clip / norm.clamp(min=model.clip))[:, None]
        if model.weight_decay:
            gradient = torch.addcmul(gradient, self.decays, self.params, value=model.weight_decay)
        gradient = gradient.masked_fill(~alive, 0)
        share = optimizers.share(model.schedule, step, model.steps)
        rate = model.learning_rate * share * alive
        moved = (self.params, gradient, self.moments, rate, step, model.momentum)
        optimizers.update(model.optimizer, *moved)
        for name, value in self.state.items():
            value.copy_(after[name])
        self.losses.copy_(losses)
        self.step_number.add_(1)
        # Fast at first: a short run would else serve its random start.
        decay = torch.clamp(1 - 1 / (step + 2), max=model.ema)
        self.average.lerp_(self.params, 1 - decay)

    def _mapped(self, one: Callable[..., Any]) -> Callable[..., Any]:
        """Of a function of one model that of the stack."""
        if self.height > 1:
            return vmap(one, randomness="error")

        def alone(*stacked: Any) -> Any:
            return tree_map(lambda x: x[None], one(*tree_map(lambda x: x[0], stacked)))

        return alone

    def refresh(self) -> None:
        """The state of every model, made anew from all its rows."""

        def of_one(params: Tensor, fields: dict[str, Tensor], state: State) -> State:
            after: State = self.model.refresh(self.net, params, Rows(**fields), state)
            return after

        state = {**self.state, "average": self.average}
        with torch.no_grad():
            after = self._mapped(of_one)(self.params, self.batches.rows(), state)
        for name, value in self.state.items():
            value.copy_(after[name])

    def train(
        self,
        mode: Mode | None = None,
        checkpoint: Path | None = None,
        tell: Callable[[int], None] = lambda step: None,
    ) -> None:
        """Every step there is to do, from the checkpoint on if there is one."""
        with _threads(1 if self.params.numel() < MANY else torch.get_num_threads()):
            self._train(mode, checkpoint, tell)

    def _train(
        self, mode: Mode | None, checkpoint: Path | None, tell: Callable[[int], None]
    ) -> None:
        if checkpoint is not None and checkpoint.exists():
            self.load(checkpoint)
        saved, drawn = time.monotonic(), self.batches.draw()
        advance = self._advance(mode or self._mode())
        while self.done < self.model.steps:
            self.batches.put(drawn)
            for _ in range(min(self.batches.chunk, self.model.steps - self.done)):
                if self.model.refresh_every and self.done % self.model.refresh_every == 0:
                    self.refresh()
                next(advance)
                self.done += 1
            due = time.monotonic() - saved > CHECKPOINT_SECONDS and self.done % BLOCK == 0
            if checkpoint is not None and due:
                self.save(checkpoint)
                saved = time.monotonic()
            drawn = self.batches.draw()  # while the device is at work
            tell(self.done)

    def _mode(self) -> Mode:
        if self.device.type != "cuda":
            return "eager"
        stacks = getattr(self.net.module, "stacks", True)
        pays = COMPILE_PAYS["stacked" if stacks else "alone"]
        return "compile" if self.model.steps >= pays else "graph"

    def _advance(self, mode: Mode) -> Iterator[None]:
        """A step each time it is asked. A graph is captured once real steps have warmed it up."""
        step = self.step
        if mode == "compile":
            torch.compiler.reset()  # what was compiled for other stacks counts against a limit
            parts = (torch.compile(part, dynamic=False) for part in (self.forward, self.update))
            step = partial(self.step, *parts)
        if mode == "eager" or self.device.type != "cuda":
            while True:
                step()
                yield
        stream = torch.cuda.Stream()
        for _ in range(WARM_UP):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                step()
            torch.cuda.current_stream().wait_stream(stream)
            yield
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        while True:
            graph.replay()
            yield

    def _tensors(self) -> dict[str, Tensor]:
        moments = {f"moment {k}": moment for k, moment in enumerate(self.moments)}
        state = {f"state {name}": value for name, value in self.state.items()}
        own = {name: getattr(self, name) for name in ("params", "average", "step_number", "failed")}
        return {**own, **moments, **state}

    def save(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        torch.save({"tensors": self._tensors(), "chance": self.batches.save()}, part)
        part.replace(file)

    def load(self, file: Path) -> None:
        try:
            saved = torch.load(file, map_location=self.device, weights_only=True)
            for name, tensor in self._tensors().items():
                tensor.copy_(saved["tensors"][name])
            self.done = int(self.step_number)
            self.batches.load(saved["chance"], self.done)
        except Exception as error:
            file.unlink()
            raise InputError(
                f"the checkpoint {file.name} cannot be read and was removed: try again"
            ) from error

    def results(self) -> list[Trained | int]:
        """Of each model what it serves, or the step at which its loss was not finite."""
        with torch.no_grad():
            state = {**self.state, "average": self.average}
            served = self._mapped(self.model.serve)(self.params, state)
            failed = self.failed.tolist()
            return [
                self._trained(m, served[m]) if failed[m] < 0 else failed[m]
                for m in range(self.height)
            ]

    def _trained(self, m: int, params: Tensor) -> Trained:
        rows = self.batches.of(m)

        def batches() -> Iterator[Tensor]:
            for part in rows.tensor_split(-(-len(rows) // 512)):  # none of a single row
                yield self.net.prepare(self.views.plain(part)).to(params.dtype)

        statistics = self.net.statistics(params, batches) if self.net.has_statistics else {}
        return Trained(
            self.net,
            params.cpu(),
            {name: value.cpu() for name, value in statistics.items()},
            self.views,
            str(self.device),
        )
