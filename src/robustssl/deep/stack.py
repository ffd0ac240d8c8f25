"""A stack of models: their gradients by vmap, and one element-wise update for all of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.utils._pytree import tree_map

from robustssl.deep import optimizers
from robustssl.deep.batches import Batches
from robustssl.deep.device import PRECISIONS, device_of, precision_of
from robustssl.deep.hooks import check_loss
from robustssl.deep.inputs import Problem
from robustssl.deep.net import Net
from robustssl.deep.starts import same_constants, seeds_of, start
from robustssl.deep.trained import Trained
from robustssl.deep.types import Batch, Rows, Shape, State
from robustssl.errors import InputError
from robustssl.views import Views


class Stack:
    """Models with the same options and other rows and seeds, trained together; row m of every
    tensor belongs to model m. `room` is the least number of labeled and of unlabeled rows that the
    tensors of rows have, so that other problems may fit in.
    """

    def __init__(
        self,
        model: Any,
        build: Callable[[], nn.Module],
        views: Views,
        problems: Sequence[Problem],
        room: tuple[int, int] = (1, 1),
    ) -> None:
        self.model, self.views, self.height = model, views, len(problems)
        self.device = device_of(model.device)
        precision = precision_of(model.precision, self.device)
        torch.backends.cuda.matmul.allow_tf32 = precision in ("tf32", "bf16")
        torch.backends.cudnn.allow_tf32 = precision in ("tf32", "bf16")
        torch.backends.cudnn.benchmark = True  # shapes never change
        stages = [
            [start(build, seed) for seed in seeds]
            for seeds in zip(*(seeds_of(p.seed, len(model.stages)) for p in problems), strict=True)
        ]
        nets = stages[0]
        if not same_constants([net for fresh in stages for net in fresh]):
            raise InputError(
                f"{type(nets[0]).__name__} has buffers or frozen parameters that depend on the "
                "seed, and models that are trained together share them: give the net "
                "`stacks = False`"
            )
        self.net = Net(nets[0], PRECISIONS[precision])
        exact = self.net.exact
        self.decays = self.net.decays.to(self.device, exact)
        self.backbone = self.net.backbone.to(self.device, exact)
        self.starts = [
            torch.stack([self.net.pack(net) for net in fresh]).to(self.device, exact)
            for fresh in stages
        ]
        self.params = self.starts[0].clone()
        self.net.to(self.device)
        self.average = self.params.clone()
        self.moments = optimizers.moments(model.optimizer, self.params)
        self.batches = Batches(
            problems,
            views,
            (model.batch, model.asked),
            model.views,
            self._noise(problems[0]),
            self.net.prepare,
            (self.device, exact),
            room,
        )
        self.classes = 1 + max(int(problem.codes.max()) for problem in problems)
        row = tuple(self._one(problems[0]).shape)
        counts = self.batches.unlabeled.shape[1], self.batches.x.shape[1]
        blocks = getattr(problems[0].X, "blocks", ())
        shape = Shape(*counts, row, self.classes, model.steps, blocks)
        self.state: State = self._mapped(lambda params: model.init(params, shape))(self.params)
        self.state = {name: value.clone() for name, value in self.state.items()}
        self.step_number = torch.zeros(1, dtype=torch.long, device=self.device)
        self.failed = torch.full((self.height,), -1, dtype=torch.long, device=self.device)
        self.losses = torch.zeros(self.height, 2, dtype=exact, device=self.device)
        self.done = self.stage = 0

    @property
    def steps(self) -> int:
        """The steps of all stages."""
        return int(self.model.steps * len(self.model.stages))

    def tensors(self) -> dict[str, Tensor]:
        """Everything that a step changes, by name."""
        moments = {f"moment {k}": moment for k, moment in enumerate(self.moments)}
        state = {f"state {name}": value for name, value in self.state.items()}
        own = {name: getattr(self, name) for name in ("params", "average", "step_number", "failed")}
        return {**own, **moments, **state}

    def become(self, other: "Stack") -> bool:
        """Hold another stack of the same options in the tensors of this one, if it fits, so that
        what was compiled or captured for this one serves again; whether it does.
        """
        mine = {**self.tensors(), **self.batches.tensors()}
        others = {**other.tensors(), **other.batches.tensors()}
        if [x.shape for x in mine.values()] != [x.shape for x in others.values()]:
            return False
        if not same_constants([self.net.module, other.net.module]):
            return False
        for name, tensor in mine.items():
            tensor.copy_(others[name])
        self.batches.draw_as(other.batches)
        self.starts, self.done, self.stage = other.starts, other.done, other.stage
        return True

    def _noise(self, problem: Problem) -> Any:
        if self.model.noise is None:
            return None
        shape = (self.model.asked, *self._one(problem).shape)
        return lambda rng, steps: self.model.noise(rng, (steps, *shape))

    def _one(self, problem: Problem) -> Tensor:
        """One row as the net sees it."""
        row = torch.from_numpy(np.asarray(problem.X[:1])).to(self.device)
        return self.net.prepare(self.views.plain(row))[0]

    def _mapped(self, one: Callable[..., Any]) -> Callable[..., Any]:
        """The function of a stack that applies a function of one model to each of its models."""
        if self.height > 1:
            return vmap(one, randomness="error")

        def alone(*stacked: Any) -> Any:
            return tree_map(lambda x: x[None], one(*tree_map(lambda x: x[0], stacked)))

        return alone

    def forward(self, params: Tensor) -> tuple[Tensor, Tensor, State]:
        """The labeled and the unlabeled loss of every model in this step, and its next state."""

        def of_one(params: Tensor, fields: dict[str, Tensor], state: State) -> Any:
            name = self.model.stages[self.stage]
            found = getattr(self.model, name)(self.net, params, Batch(**fields), state)
            check_loss(self.model, name, found)
            return found

        with torch.no_grad():
            step = self._step_in_stage().expand(self.height)
            fields = {**self.batches.at(self.step_number), "step": step}
        state = {**self.state, "average": self.average, "params": self.params}
        found: tuple[Tensor, Tensor, State] = self._mapped(of_one)(params, fields, state)
        return found

    def gradient(
        self, params: Tensor, labeled: Tensor, unlabeled: Tensor, after: State
    ) -> tuple[Tensor, State]:
        """The gradient of every model, and its next state. The losses may be summed over models,
        since the loss of one does not depend on the parameters of another.
        """
        after = {name: after[name].detach() for name in self.state}
        if not self.model.combines:
            return torch.autograd.grad((labeled + unlabeled).sum(), params)[0], after
        (of_labeled,) = torch.autograd.grad(labeled.sum(), params, retain_graph=True)
        (of_unlabeled,) = torch.autograd.grad(unlabeled.sum(), params)
        state = {**after, "backbone": self.backbone.expand_as(of_labeled)}
        combined: tuple[Tensor, State]
        combined = self._mapped(self.model.combine)(of_labeled, of_unlabeled, state)
        return combined

    def unlabeled_gradient(self) -> Tensor:
        """The gradient of the unlabeled loss alone, in this step; zeros where it has none."""
        params = self.params.to(self.net.dtype).detach().requires_grad_()
        with torch.enable_grad():
            _, unlabeled, _ = self.forward(params)
            if not unlabeled.requires_grad:
                return torch.zeros_like(params)
            (gradient,) = torch.autograd.grad(unlabeled.sum(), params, allow_unused=True)
        return torch.zeros_like(params) if gradient is None else gradient

    def step(self, forward: Any = None, update: Any = None) -> None:
        """One step of every model, in place; `forward` and `update` may be given compiled."""
        params = self.params.to(self.net.dtype).detach().requires_grad_()
        with torch.enable_grad():
            labeled, unlabeled, after = (forward or self.forward)(params)
            gradient, after = self.gradient(params, labeled, unlabeled, after)
        losses = torch.stack([labeled, unlabeled], 1).detach()
        with torch.no_grad():
            (update or self.update)(gradient, losses, after)

    def update(self, gradient: Tensor, losses: Tensor, after: State) -> None:
        """Move the parameters. A model whose loss is not finite keeps its own from then on."""
        model, step = self.model, self._step_in_stage()
        gradient = gradient.to(self.params.dtype)
        norm = gradient.norm(dim=1)
        alive = self.failed < 0
        fine = losses.sum(1).isfinite() & norm.isfinite()
        self.failed.copy_(torch.where(alive & ~fine, self.step_number, self.failed))
        alive = (alive & fine)[:, None]
        if model.clip is not None:
            gradient = gradient * (model.clip / norm.clamp(min=model.clip))[:, None]
        if model.weight_decay and model.decay == "coupled":
            gradient = torch.addcmul(gradient, self.decays, self.params, value=model.weight_decay)
        gradient = gradient.masked_fill(~alive, 0)
        share = optimizers.share(model.schedule, step, model.steps)
        rate = model.learning_rate * share * alive
        if model.weight_decay and model.decay == "decoupled":
            self.params.mul_(1 - model.weight_decay * rate * self.decays)
        moved = (self.params, gradient, self.moments, rate, step, model.momentum)
        optimizers.update(model.optimizer, *moved)
        for name, value in self.state.items():
            value.copy_(after[name])
        self.losses.copy_(losses)
        self.step_number.add_(1)
        # A small decay at first, or the average of a short run would be mostly its random start.
        decay = torch.clamp(1 - 1 / (step + 2), max=model.ema)
        self.average.lerp_(self.params, 1 - decay)

    def _step_in_stage(self) -> Tensor:
        return self.step_number.remainder(self.model.steps).to(self.params.dtype)

    def prepare(self) -> None:
        """What is due before a step: the next stage, or a state that is computed again."""
        model = self.model
        if self.done == (self.stage + 1) * model.steps:
            self._next_stage()
        if model.refresh_every and self.done % model.steps % model.refresh_every == 0:
            self._refresh()

    def _next_stage(self) -> None:
        """Hand the state of every model over to the next stage, and begin it with a fresh net."""
        rows = self.batches.rows()
        with torch.no_grad():
            for m, params in enumerate(self._served()):
                net = self.net.served(self._statistics(m, params))
                state = {name: value[m] for name, value in self.state.items()}
                mine = Rows(**{name: value[m] for name, value in rows.items()})
                after = self.model.handover(net, params, mine, state)
                for name, value in state.items():
                    value.copy_(after[name])
            self.stage += 1
            for moment in self.moments:
                moment.zero_()
            self.params.copy_(self.starts[self.stage])
            self.average.copy_(self.params)

    def _refresh(self) -> None:
        """Let every model compute its state again from all of its rows."""

        def of_one(params: Tensor, fields: dict[str, Tensor], state: State) -> State:
            after: State = self.model.refresh(self.net, params, Rows(**fields), state)
            return after

        state = {**self.state, "average": self.average}
        with torch.no_grad():
            after = self._mapped(of_one)(self.params, self.batches.rows(), state)
        for name, value in self.state.items():
            value.copy_(after[name])

    def results(self) -> list[Trained | int]:
        """Every model as trained, or the step at which its loss was not finite."""
        with torch.no_grad():
            failed, served = self.failed.tolist(), self._served()
            return [
                self._trained(m, served[m]) if failed[m] < 0 else failed[m]
                for m in range(self.height)
            ]

    def _served(self) -> Tensor:
        """The parameters that each model predicts with."""
        state = {**self.state, "average": self.average}
        served: Tensor = self._mapped(self.model.serve)(self.params, state)
        return served

    def _trained(self, m: int, params: Tensor) -> Trained:
        return Trained(
            self.net,
            params.to("cpu", copy=True),  # the stack may become another one
            {name: value.cpu() for name, value in self._statistics(m, params).items()},
            self.views,
            str(self.device),
        )

    def _statistics(self, m: int, params: Tensor) -> dict[str, Tensor]:
        """Those of the BatchNorms, over all rows of a model."""
        rows = self.batches.of(m)

        def batches() -> Iterator[Tensor]:
            for part in rows.tensor_split(-(-len(rows) // 512)):  # equal parts, none of one row
                yield self.net.prepare(self.batches.views.plain(part)).to(params.dtype)

        return self.net.statistics(params, batches) if self.net.has_statistics else {}
