"""A multi-layer perceptron: small, and quick on any machine."""

from itertools import pairwise

from torch import Tensor, nn

from robustssl.deep.net import Headed
from robustssl.errors import InputError
from robustssl.nets._inputs import Shape, centred, is_image
from robustssl.nets._inputs import width as width_of


class MLP(Headed):
    """Layers of rectified units; images are rows of pixels."""

    def __init__(self, shape: Shape, classes: int, *, width: int = 64, depth: int = 2) -> None:
        super().__init__()
        if width < 1 or depth < 0:
            raise InputError(f"mlp has a width of 1 on and a depth of 0 on, not {width}, {depth}")
        self.images = is_image(shape)
        widths = [width_of(shape), *[width] * depth]
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.head = nn.Linear(widths[-1], classes)

    def features(self, x: Tensor) -> Tensor:
        x = centred(x).flatten(1) if self.images else x
        for layer in self.layers:
            x = layer(x).relu()
        return x
