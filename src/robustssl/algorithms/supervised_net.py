"""A net trained on the labeled rows alone."""

from dataclasses import dataclass

from robustssl.deep import NetClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class SupervisedNet(NetClassifier):
    """Cross-entropy on weak views of the labeled rows, with the same net, steps, views and
    averaging as the deep methods: a deep method without unlabeled rows.
    """

    supervised = True
