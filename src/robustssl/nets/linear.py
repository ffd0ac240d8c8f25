"""One layer: logistic regression, or the head of a frozen encoder."""

from robustssl.nets._inputs import Shape
from robustssl.nets.mlp import MLP


class Linear(MLP):
    """A perceptron without hidden layers."""

    def __init__(self, shape: Shape, classes: int) -> None:
        super().__init__(shape, classes, depth=0)
