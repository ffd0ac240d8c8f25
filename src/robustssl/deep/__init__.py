"""The deep engine: a method is a loss function, and all models of a curve are trained at once.

The names that the file of a deep algorithm needs; the types of its options are in `robustssl.spec`.
"""

from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from robustssl.deep.estimator import DeepClassifier, NetClassifier
from robustssl.deep.net import Headed, Net
from robustssl.deep.types import Batch, Loss, Rows, Shape, State, frozen, one_hot

__all__ = [
    "Batch",
    "DeepClassifier",
    "Headed",
    "Loss",
    "Net",
    "NetClassifier",
    "Rows",
    "Shape",
    "State",
    "Tensor",
    "cross_entropy",
    "frozen",
    "mse_loss",
    "one_hot",
]
