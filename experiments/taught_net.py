"""The net of taught: it reads labeled rows, unlabeled rows and queries as one context.

Every row is a token, which holds its features and what five simple learners answer. Half of the
heads attend to the labeled rows, the others to the unlabeled ones, so that many unlabeled rows do
not hide few labeled ones. No token attends to a query. There are no positions: the order of rows
means nothing. A class gets the sum of the simple learners' answers, each as far as the net believes
it, and a correction by the net.
"""

from typing import NamedTuple

import torch
from taught_simple import LEARNERS
from torch import Tensor, nn
from torch.nn.functional import gelu, one_hot, pad, scaled_dot_product_attention

FEATURES, CLASSES, BINS = 32, 10, 21  # sizes of the net; BINS of t: 0, .05, ..., 1


class Answer(NamedTuple):
    classes: Tensor  # logits (worlds, unlabeled + queries, CLASSES)
    rows: Tensor  # logits that a row is inconsistent (worlds, unlabeled + queries)
    t: Tensor  # logits (worlds, BINS)


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.join = (nn.Linear(width, k * width, bias=False) for k in (3, 1))
        self.widen = nn.Linear(width, 4 * width, bias=False)
        self.narrow = nn.Linear(4 * width, width, bias=False)

    def forward(self, h: Tensor, labeled: int, unlabeled: int) -> Tensor:
        q, k, v = (
            self.attend(self.before(h)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        )
        half, end = self.heads // 2, labeled + unlabeled
        one = scaled_dot_product_attention(
            q[:, :half], k[:, :half, :labeled], v[:, :half, :labeled]
        )
        if unlabeled:
            two = scaled_dot_product_attention(
                q[:, half:], k[:, half:, labeled:end], v[:, half:, labeled:end]
            )
        else:
            two = torch.zeros_like(q[:, half:])
        h = h + self.join(torch.cat([one, two], 1).transpose(1, 2).flatten(2))
        return h + self.narrow(gelu(self.widen(self.after(h))))


class TaughtNet(nn.Module):
    def __init__(self, width: int = 192, layers: int = 8, heads: int = 6) -> None:
        super().__init__()
        self.read = nn.Linear(2 * FEATURES, width)
        self.hear = nn.Linear(len(LEARNERS) * CLASSES, width, bias=False)
        self.label = nn.Linear(CLASSES + 2, width, bias=False)  # a class, "unlabeled", "query"
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.last = nn.LayerNorm(width)
        self.classes, self.rows = nn.Linear(width, CLASSES), nn.Linear(width, 1)
        self.believe = nn.Linear(width, len(LEARNERS))
        self.t = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, BINS))
        for part in (self.classes, self.believe):
            nn.init.zeros_(part.weight)
        nn.init.constant_(self.believe.bias, 1 / len(LEARNERS))

    def forward(self, x: Tensor, y: Tensor, unlabeled: int, answers: Tensor) -> Answer:
        """x: (worlds, labeled + unlabeled + queries, features), NaN where missing; y: codes of the
        labeled rows; answers: of the simple learners, (worlds, rows, LEARNERS, CLASSES).
        """
        worlds, total, features = x.shape
        labeled, kind = y.shape[1], self.read.weight.dtype
        missing = x.isnan()
        value = torch.asinh(x.masked_fill(missing, 0.0)) * (FEATURES / features) ** 0.5
        room = (0, FEATURES - features)
        cells = torch.cat([pad(value, room), pad(missing.to(value.dtype), room)], -1).to(kind)
        says = torch.full((worlds, total), CLASSES + 1, device=x.device)
        says[:, :labeled] = y
        says[:, labeled : labeled + unlabeled] = CLASSES
        h = self.read(cells) + self.label(one_hot(says, CLASSES + 2).to(kind))
        h = h + self.hear(answers.exp().flatten(2).to(kind))
        for block in self.blocks:
            h = block(h, labeled, unlabeled)
        h = self.last(h)
        known, free = h[:, :labeled], h[:, labeled : labeled + unlabeled]
        both = torch.cat(
            [known.mean(1), free.mean(1) if unlabeled else torch.zeros_like(h[:, 0])], -1
        )
        rest = h[:, labeled:]
        trusted = self.believe(rest)[..., None] * answers[:, labeled:]
        return Answer(self.classes(rest) + trusted.sum(2), self.rows(rest)[..., 0], self.t(both))
