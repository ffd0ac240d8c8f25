"""A net apart from its parameters, which are one vector: a stack of models is a matrix."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

ALIGNED = 8  # numbers; an address that fast matrix products can start at


class Net:
    """`net(params, a, b)` is one pass over a and b, which so share their batch statistics.

    It computes in `dtype` and answers in `exact`. `net.plain` is the same function in float64, in
    operations that have derivatives of every kind: rounding would turn a direction of steepest
    change.
    """

    plain: "Net"

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

    def __call__(
        self, params: Tensor, *inputs: Tensor, statistics: dict[str, Tensor] | None = None
    ) -> Any:
        """The logits of each input; with batch statistics, unless others are given."""
        rows = inputs[0] if len(inputs) == 1 else torch.cat(inputs)
        values = {**self.unpack(params), **(statistics or {})}
        if statistics is not None:
            self.module.eval()
        logits = functional_call(self.module, values, (rows.to(self.dtype),)).to(self.exact)
        if statistics is not None:
            self.module.train()
        return logits if len(inputs) == 1 else logits.split([len(part) for part in inputs])

    def prepare(self, rows: Tensor) -> Tensor:
        """What the net makes of its input once, such as vectors of words; else the rows."""
        prepare: Any = getattr(self.module, "prepare", lambda rows: rows)
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
            count, total, squares = (sum(part) for part in zip(*layer.met, strict=True))
            found[f"{name}.mean"] = total / count
            found[f"{name}.variance"] = (squares / count - (total / count) ** 2).clamp(min=0)
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
