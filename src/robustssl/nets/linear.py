"""One layer: logistic regression, or the head of a frozen encoder."""

from torch import Tensor, nn

from robustssl.deep.net import Headed
from robustssl.nets._inputs import Shape, flat, width


class Linear(Headed):
    """A head on the inputs themselves."""

    def __init__(self, shape: Shape, classes: int) -> None:
        super().__init__()
        self.head = nn.Linear(width(shape), classes)

    def features(self, x: Tensor) -> Tensor:
        return flat(x)
