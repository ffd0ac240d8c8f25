"""A net of one's own for the tests, with a BatchNorm that can be stacked."""

import torch
from torch import nn

from robustssl.deep.net import BatchNorm


class Normed(nn.Module):
    def __init__(self, shape, classes):
        super().__init__()
        self.layer, self.norm, self.head = nn.Linear(*shape, 6), BatchNorm(6), nn.Linear(6, classes)

    def forward(self, x):
        return self.head(self.norm(self.layer(x)).relu())


class Drawn(Normed):
    """With a buffer that depends on the seed."""

    def __init__(self, shape, classes):
        super().__init__(shape, classes)
        self.register_buffer("drawn", torch.rand(3))


class Alone(Drawn):
    """The same, trained one after the other."""

    stacks = False
