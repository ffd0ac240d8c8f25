"""A net apart from its parameters, which are one vector: a stack of models is a matrix."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

ALIGNED = 8  # numbers; an address that fast matrix products can start at


class Headed(nn.Module):
    """A net whose answer is a head, one layer, on features; methods may add heads of their own."""

    head: nn.Linear

    def features(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(x))
        return logits


class Whole(nn.Module):
    """A net and the parts that a method trains beside it, called by their names."""

    def __init__(self, net: nn.Module, parts: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.net = net
        for name, part in parts.items():
            self.add_module(name, part)
        self.stacks: Any = getattr(net, "stacks", True)
        self.prepare: Any = getattr(net, "prepare", _as_it_is)

    def forward(self, x: Tensor, part: str = "net") -> Tensor:
        found: Any = self
        for word in part.split("."):
            found = getattr(found, word)
        answer: Tensor = found(x)
        return answer


def _as_it_is(rows: Tensor) -> Tensor:
    return rows


class Net:
    """`net(params, a, b)` is one pass over a and b, which so share their batch statistics.
    `net.part("name", params, a, b)` is the same of one of a method's own `parts`, or of
    `net.features` and `net.head`, of which the net is made.

    It computes in `dtype` and answers in `exact`. `net.plain` is the same function in float64, in
    operations that have derivatives of every kind: rounding would turn a direction of steepest
    change.
    """

    plain: "Net"
    fixed: dict[str, Tensor] | None = None  # statistics of batch normalisation

    def __init__(self, module: nn.Module, dtype: torch.dtype) -> None:
        self.module, self.dtype = module, dtype
        self.exact = torch.float64 if dtype == torch.float64 else torch.float32
        free = {n: p for n, p in module.named_parameters() if p.requires_grad}
        # Shapes that would shift those after them come last.
        self._names = sorted(free, key=lambda name: free[name].numel() % ALIGNED != 0)
        self._shapes = [free[name].shape for name in self._names]
        sizes = [shape.numel() for shape in self._shapes]
        self._sizes = [*sizes, -sum(sizes) % ALIGNED]
        self.decays = torch.cat(
            [
                torch.full((size,), float(len(shape) > 1 and name.endswith("weight")))
                for name, size, shape in zip(self._names, sizes, self._shapes, strict=True)
            ]
            + [torch.zeros(self._sizes[-1])]
        )
        self.has_statistics = any(isinstance(m, BatchNorm) for m in module.modules())
        self.plain = copy.copy(self)
        self.plain.dtype = self.plain.exact = torch.float64
        self.plain.module = copy.deepcopy(module)
        for part in self.plain.module.modules():
            part.fused = False  # type: ignore[assignment]
        for parameter in self.plain.module.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.new_empty(0)  # others take its place in every call

    def to(self, device: torch.device) -> None:
        self.module.to(device, self.dtype)
        self.plain.module.to(device, self.plain.dtype)

    def pack(self, module: nn.Module) -> Tensor:
        """The free parameters of a module as a vector."""
        named = dict(module.named_parameters())
        pieces = [named[name].detach().flatten() for name in self._names]
        return torch.cat([*pieces, torch.zeros(self._sizes[-1])])

    def unpack(self, params: Tensor) -> dict[str, Tensor]:
        pieces = params.to(self.dtype).split(self._sizes)[:-1]
        named = zip(self._names, pieces, self._shapes, strict=True)
        return {name: piece.view(shape) for name, piece, shape in named}

    def __call__(self, params: Tensor, *inputs: Tensor) -> Any:
        """The logits of each input; with batch statistics, unless they are fixed."""
        return self._pass(params, inputs)

    def part(self, name: str, params: Tensor, *inputs: Tensor) -> Any:
        """What a part makes of each input."""
        return self._pass(params, inputs, part=name)

    def _pass(self, params: Tensor, inputs: tuple[Tensor, ...], **options: str) -> Any:
        rows = (inputs[0] if len(inputs) == 1 else torch.cat(inputs)).to(self.dtype)
        values = {**self.unpack(params), **(self.fixed or {})}
        if self.fixed is not None:
            self.module.eval()
        answer = functional_call(self.module, values, (rows,), options).to(self.exact)
        if self.fixed is not None:
            self.module.train()
        return answer if len(inputs) == 1 else answer.split([len(part) for part in inputs])

    def served(self, statistics: dict[str, Tensor]) -> "Net":
        """The net with statistics that stay, whatever the batch."""
        net = copy.copy(self)
        net.fixed = statistics
        return net

    def prepare(self, rows: Tensor) -> Tensor:
        """What the net makes of its input once, such as vectors of words; else the rows."""
        prepare: Any = getattr(self.module, "prepare", _as_it_is)
        prepared: Tensor = prepare(rows)
        return prepared

    def statistics(self, params: Tensor, batches: Callable[[], Any]) -> dict[str, Tensor]:
        """The mean and variance that every BatchNorm met in one pass over the batches."""
        layers = {n: m for n, m in self.module.named_modules() if isinstance(m, BatchNorm)}
        for layer in layers.values():
            layer.met = []
        for batch in batches():
            self(params, batch)
        found = {}
        for name, layer in layers.items():
            if not layer.met:  # a part that does not answer
                continue
            count, total, squares = (sum(part) for part in zip(*layer.met, strict=True))
            found[f"{name}.mean"] = total / count
            found[f"{name}.variance"] = (squares / count - (total / count) ** 2).clamp(min=0)
        for layer in layers.values():
            layer.met = None
        return {name: value.to(self.dtype) for name, value in found.items()}


class BatchNorm(nn.Module):
    """Batch normalisation (Ioffe and Szegedy, 2015) that keeps nothing while it trains: its
    statistics are those of the batch, or the ones that `Net` hands it.
    """

    mean: Tensor
    variance: Tensor
    met: Any = None  # while statistics are taken: count, sum and sum of squares of each batch

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        mean, variance = (self.mean, self.variance) if not self.training else (None, None)
        if self.met is not None:
            wide = x.detach().double().movedim(1, -1).flatten(0, -2)
            self.met.append((len(wide), wide.sum(0), wide.square().sum(0)))
        return nn.functional.batch_norm(
            x, mean, variance, self.weight, self.bias, self.training, 0.0, self.eps
        )
