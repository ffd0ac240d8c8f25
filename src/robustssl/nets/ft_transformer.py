"""FT-Transformer (Gorishniy et al., 2021: arXiv:2106.11959), without dropout."""

import math

import torch
from torch import Tensor, nn

from robustssl.nets._inputs import Shape
from robustssl.nets._inputs import width as width_of


class FTTransformer(nn.Module):
    """Every feature is a token; the answer is read from a token of its own, the first."""

    def __init__(
        self, shape: Shape, classes: int, *, layers: int = 8, width: int = 192, heads: int = 8
    ) -> None:
        super().__init__()
        features, bound = width_of(shape), 1 / math.sqrt(width)
        self.weight = nn.Parameter(torch.empty(features, width).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(features, width).uniform_(-bound, bound))
        self.answer = nn.Parameter(torch.empty(1, width).uniform_(-bound, bound))
        self.blocks = nn.ModuleList(_Block(width, heads, first=k == 0) for k in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x[..., None] * self.weight + self.bias
        tokens = torch.cat([self.answer.expand(len(x), 1, -1), tokens], 1)
        for block in self.blocks[:-1]:
            tokens = block(tokens, tokens)
        answer = self.blocks[-1](tokens[:, :1], tokens)[:, 0]  # of the last, no other is read
        logits: Tensor = self.head(self.norm(answer).relu())
        return logits


class _Block(nn.Module):
    """Attention of some tokens to all, then a gated layer for each; the first has no norm before
    its attention.
    """

    def __init__(self, width: int, heads: int, first: bool) -> None:
        super().__init__()
        self.heads, hidden = heads, width * 4 // 3
        self.before = nn.Identity() if first else nn.LayerNorm(width)
        self.query, self.pairs = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.widen, self.narrow = nn.Linear(width, 2 * hidden), nn.Linear(hidden, width)
        for layer in (self.query, self.pairs, self.out):
            nn.init.zeros_(layer.bias)

    def forward(self, some: Tensor, every: Tensor) -> Tensor:
        normed = self.before(every)
        query = self._split(self.query(normed[:, : some.shape[1]]))
        key, value = (self._split(part) for part in self.pairs(normed).chunk(2, -1))
        weights = (query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])).softmax(-1)
        mixed = (weights @ value).transpose(1, 2).flatten(2)
        some = some + self.out(mixed)
        values, gates = self.widen(self.between(some)).chunk(2, -1)
        result: Tensor = some + self.narrow(values * gates.relu())
        return result

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
