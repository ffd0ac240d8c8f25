"""A net without its parameters, which are one vector; those of a stack of models are a matrix."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

ALIGNED = 8  # numbers; fast matrix products need addresses that are multiples of it


class Headed(nn.Module):
    """A net that is one linear layer, `head`, on `features`; methods may add their own heads."""

    head: nn.Linear

    def features(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(x))
        return logits


class Whole(nn.Module):
    """A net and the modules that a method trains beside it, each called by its name."""

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
    """`net(params, a, b)` is one pass over a and b, which therefore share their batch statistics.
    `net.part("name", params, a, b)` is the same for one of the method's `parts`, or for
    `net.features` or `net.head`, the two halves of a `Headed` net.

    It computes in `dtype` and returns `exact`. `net.plain` is the same function in float64, without
    fused operations, for methods that differentiate with respect to rows: those operations lack
    some derivatives, and rounding would change the direction of steepest ascent.
    """

    plain: "Net"
    fixed: dict[str, Tensor] | None = None  # statistics of batch normalisation

    def __init__(self, module: nn.Module, dtype: torch.dtype) -> None:
        self.module, self.dtype = module, dtype
        self.exact = torch.float64 if dtype == torch.float64 else torch.float32
        free = {n: p for n, p in module.named_parameters() if p.requires_grad}
        # Sizes that are not multiples of ALIGNED come last, so that all others stay aligned.
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
        own = [not isinstance(module, Whole) or n.startswith("net.") for n in self._names]
        self.backbone = torch.cat(
            [torch.full((n,), float(is_own)) for n, is_own in zip(sizes, own, strict=True)]
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
                parameter.data = parameter.new_empty(0)  # every call passes its own

    def to(self, device: torch.device) -> None:
        self.module.to(device, self.dtype)
        self.plain.module.to(device, self.plain.dtype)

    def pack(self, module: nn.Module) -> Tensor:
        """The trainable parameters of a module as one vector."""
        named = dict(module.named_parameters())
        pieces = [named[name].detach().flatten() for name in self._names]
        return torch.cat([*pieces, torch.zeros(self._sizes[-1])])

    def unpack(self, params: Tensor) -> dict[str, Tensor]:
        pieces = params.to(self.dtype).split(self._sizes)[:-1]
        named = zip(self._names, pieces, self._shapes, strict=True)
        return {name: piece.view(shape) for name, piece, shape in named}

    def __call__(self, params: Tensor, *inputs: Tensor) -> Any:
        """The logits for each input; BatchNorm uses the batch, unless its statistics are fixed."""
        return self._pass(params, inputs)

    def part(self, name: str, params: Tensor, *inputs: Tensor) -> Any:
        """The output of a part for each input."""
        return self._pass(params, inputs, part=name)

    def _pass(self, params: Tensor, inputs: tuple[Tensor, ...], **options: str) -> Any:
        rows = (inputs[0] if len(inputs) == 1 else torch.cat(inputs)).to(self.dtype)
        values = {**self.unpack(params), **(self.fixed or {})}
        if self.fixed is None:
            answer = functional_call(self.module, values, (rows,), options).to(self.exact)
        else:
            self.module.eval()
            parts = rows.split(self.at_once)
            answers = [functional_call(self.module, values, (part,), options) for part in parts]
            answer = torch.cat(answers).to(self.exact)
            self.module.train()
        return answer if len(inputs) == 1 else answer.split([len(part) for part in inputs])

    def served(self, statistics: dict[str, Tensor]) -> "Net":
        """The net with fixed statistics, so that a row's answer does not depend on its batch."""
        net = copy.copy(self)
        net.fixed = statistics
        return net

    @property
    def at_once(self) -> int:
        """The number of rows that a net predicts for in one pass."""
        return 2048 if getattr(self.module, "stacks", True) else 256

    def prepare(self, rows: Tensor) -> Tensor:
        """The rows after the net's own preparation, such as looking up word vectors, if any."""
        prepare: Any = getattr(self.module, "prepare", _as_it_is)
        prepared: Tensor = prepare(rows)
        return prepared

    def statistics(self, params: Tensor, batches: Callable[[], Any]) -> dict[str, Tensor]:
        """The mean and the variance of the input of every BatchNorm in one pass over batches."""
        layers = {n: m for n, m in self.module.named_modules() if isinstance(m, BatchNorm)}
        for layer in layers.values():
            layer.met = []
        for batch in batches():
            self(params, batch)
        found = {}
        for name, layer in layers.items():
            if not layer.met:  # of a part that predicting does not use
                continue
            count, total, squares = (sum(part) for part in zip(*layer.met, strict=True))
            found[f"{name}.mean"] = total / count
            found[f"{name}.variance"] = (squares / count - (total / count) ** 2).clamp(min=0)
        for layer in layers.values():
            layer.met = None
        return {name: value.to(self.dtype) for name, value in found.items()}


class BatchNorm(nn.Module):
    """Batch normalisation (Ioffe and Szegedy, 2015) without running averages: its statistics are
    those of the batch, or those that `Net` gives it.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))
        self.eps = eps
        self.met: Any = None  # in `Net.statistics`: count, sum and sum of squares of each batch

    def forward(self, x: Tensor) -> Tensor:
        mean, variance = (self.mean, self.variance) if not self.training else (None, None)
        if self.met is not None:
            wide = x.detach().double().movedim(1, -1).flatten(0, -2)
            self.met.append((len(wide), wide.sum(0), wide.square().sum(0)))
        return nn.functional.batch_norm(
            x, mean, variance, self.weight, self.bias, self.training, 0.0, self.eps
        )
