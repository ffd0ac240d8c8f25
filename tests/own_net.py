"""A net of one's own for the tests, with a BatchNorm that can be stacked."""

from torch import nn

from robustssl.deep.net import BatchNorm


class Normed(nn.Module):
    def __init__(self, shape, classes):
        super().__init__()
        self.layer, self.norm, self.head = nn.Linear(*shape, 6), BatchNorm(6), nn.Linear(6, classes)

    def forward(self, x):
        return self.head(self.norm(self.layer(x)).relu())
