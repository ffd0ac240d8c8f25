"""The deep engine: one loss function, a whole curve trained at once.

An algorithm's file needs nothing but what stands here.
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
