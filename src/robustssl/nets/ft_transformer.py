"""FT-Transformer (Gorishniy et al., 2021: arXiv:2106.11959), without dropout."""

import math

import torch
from torch import Tensor, nn

from robustssl.deep.net import Headed
from robustssl.errors import InputError
from robustssl.nets._attention import attention
from robustssl.nets._inputs import Shape, is_image
from robustssl.nets._inputs import width as width_of
from robustssl.spec import Count


class FTTransformer(Headed):
    """Every feature is a token; the logits are computed from an additional first token."""

    def __init__(
        self, shape: Shape, classes: int, *, layers: Count = 8, width: Count = 192, heads: Count = 8
    ) -> None:
        super().__init__()
        if is_image(shape):
            raise InputError("ft_transformer takes rows of a table; use wide_resnet for images")
        if width % heads:
            raise InputError(f"width must be a multiple of heads, got {width} and {heads}")
        features, bound = width_of(shape), 1 / math.sqrt(width)
        self.scale = nn.Parameter(torch.empty(features, width).uniform_(-bound, bound))
        self.shift = nn.Parameter(torch.empty(features, width).uniform_(-bound, bound))
        self.answer = nn.Parameter(torch.empty(1, width).uniform_(-bound, bound))
        self.blocks = nn.ModuleList(_Block(width, heads, first=k == 0) for k in range(layers))
        self.norm = _Norm(width)
        self.head = nn.Linear(width, classes)

    def features(self, x: Tensor) -> Tensor:
        tokens = x[..., None] * self.scale + self.shift
        tokens = torch.cat([self.answer.expand(len(x), 1, -1), tokens], 1)
        for block in self.blocks[:-1]:
            tokens = block(tokens, tokens.shape[1])
        answer = self.blocks[-1](tokens, 1)[:, 0]  # the other tokens are not used any more
        features: Tensor = self.norm(answer).relu()
        return features


class _Norm(nn.LayerNorm):
    """torch's LayerNorm, or its formula: torch's has no forward derivative in bfloat16 on a GPU."""

    fused = True

    def forward(self, x: Tensor) -> Tensor:
        if self.fused:
            return super().forward(x)
        centred = x - x.mean(-1, keepdim=True)
        scale = (centred.square().mean(-1, keepdim=True) + self.eps).rsqrt()
        return centred * scale * self.weight + self.bias


class _Block(nn.Module):
    """Attention from the first `some` tokens to all, then a gated layer for each of them. The first
    block does not normalise before its attention.
    """

    fused = True

    def __init__(self, width: int, heads: int, first: bool) -> None:
        super().__init__()
        self.heads, hidden = heads, width * 4 // 3
        self.before = nn.Identity() if first else _Norm(width)
        self.triples, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.between = _Norm(width)
        self.widen, self.narrow = nn.Linear(width, 2 * hidden), nn.Linear(hidden, width)
        for layer in (self.triples, self.out):
            nn.init.zeros_(layer.bias)

    def forward(self, tokens: Tensor, some: int) -> Tensor:
        triples = _each(self.triples, self.before(tokens))
        tokens = tokens[:, :some] + _each(
            self.out, attention(triples, self.heads, some, self.fused)
        )
        values, gates = _each(self.widen, self.between(tokens)).chunk(2, -1)
        return tokens + _each(self.narrow, values * gates.relu())


def _each(layer: nn.Linear, tokens: Tensor) -> Tensor:
    """Apply a layer to every token, as one matrix product even if each model of a stack has its own
    weight.
    """
    done: Tensor = layer(tokens.flatten(0, 1))
    return done.unflatten(0, tokens.shape[:2])
