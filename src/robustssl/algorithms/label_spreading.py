"""Label Spreading (Zhou et al., 2004: Learning with local and global consistency)."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from robustssl.algorithms._graph import kernel, neighbors, roots, scaled, solve
from robustssl.algorithms._votes import KernelVotes, NeighborVotes
from robustssl.classifier import Codes, EncodedClassifier, Matrix, one_hot, to_rows
from robustssl.method import Between, Preset, Space
from robustssl.spec import Count, Positive, Range


@dataclass(eq=False, repr=False, kw_only=True)
class LabelSpreading(EncodedClassifier):
    """F <- alpha S F + (1 - alpha) Y with S = D^-1/2 W D^-1/2, in the limit
    F = (1 - alpha) (I - alpha S)^-1 Y.

    n_neighbors: of a sparse graph of nearest neighbours. null: a graph of all rows with weights
    exp(-gamma |x_i - x_j|^2), the only one for which gamma matters.

    Departures: a sparse graph of 7 nearest neighbours, as many as in scikit-learn, instead of one
    of all rows, whose gamma the authors choose for each dataset and which needs the square of the
    memory.
    """

    n_neighbors: Count | None = 7
    gamma: Positive = 1.0
    alpha: Annotated[float, Range(least=0, below=1)] = 0.99

    baseline = "supervised_kernel"
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("Zhou et al. 2004, section 4", {"n_neighbors": None}),
        "reference": Preset(
            "YGZWQZD/LAMDA-SSL: LAMDA_SSL/Config/LabelSpreading.py",
            {"n_neighbors": None, "alpha": 0.2, "gamma": 1.0},
        ),
    }
    version = 3
    space: ClassVar[Space] = {
        "n_neighbors": Between(3, 50, log=True),
        "alpha": (0.2, 0.5, 0.8, 0.9, 0.99),
    }

    def _fit(self, X: Matrix, codes: Codes) -> Any:
        if self.n_neighbors is not None:
            F = spread(neighbors(X, self.n_neighbors), codes, self.alpha)
            return NeighborVotes(X, F, self.n_neighbors)
        return KernelVotes(X, spread(kernel(X, self.gamma), codes, self.alpha), self.gamma)


def spread(W: Any, codes: Codes, alpha: float) -> Matrix:
    """The limit, with every row scaled to sum to 1."""
    root = roots(W) * alpha**0.5
    return to_rows(solve(scaled(W, root, root), (1 - alpha) * one_hot(codes)))
