"""A multi-layer perceptron: small, and fast on any machine."""

from itertools import pairwise
from typing import Annotated

from torch import Tensor, nn

from robustssl.deep.net import Headed
from robustssl.nets._inputs import Shape, flat
from robustssl.nets._inputs import width as width_of
from robustssl.spec import Count, Range


class MLP(Headed):
    """Layers of rectified linear units; an image is flattened to its pixels."""

    def __init__(
        self,
        shape: Shape,
        classes: int,
        *,
        width: Count = 64,
        depth: Annotated[int, Range(least=0)] = 2,
    ) -> None:
        super().__init__()
        widths = [width_of(shape), *[width] * depth]
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.head = nn.Linear(widths[-1], classes)

    def features(self, x: Tensor) -> Tensor:
        x = flat(x)
        for layer in self.layers:
            x = layer(x).relu()
        return x
