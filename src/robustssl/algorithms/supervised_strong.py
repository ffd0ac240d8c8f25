"""A net trained on weak and strong views of the labeled rows: AdaMatch (Berthelot et al., 2022,
arXiv:2106.04732) without its unlabeled rows.
"""

from dataclasses import dataclass

from robustssl.deep import Batch, Loss, Net, NetClassifier, State, Tensor, cross_entropy
from robustssl.spec import NotNegative


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedStrong(NetClassifier):
    """(CE(w(x)) + CE(s(x))) / 2: the mean cross-entropy of a weak and of a strong view of labeled
    rows. It tells the gain from unlabeled rows apart from the gain from strong views.

    strong: the standard deviation of the noise in a strong view of a table's rows.

    Departures: none; a control of this package.
    """

    strong: NotNegative = 0.2

    supervised = True
    views = ("x_strong",)

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        weak, strong = net(params, batch.x, batch.x_strong)
        labeled = (cross_entropy(weak, batch.y) + cross_entropy(strong, batch.y)) / 2
        return labeled, labeled * 0, state
