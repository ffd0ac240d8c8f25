"""Mixtures of rows and of their targets (mixup: Zhang et al., 2018, arXiv:1710.09412), as in
MixMatch.
"""

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import torch

from robustssl.deep import Tensor
from robustssl.spec import Range

# alpha of a Beta distribution; beyond these limits its draws may not be finite.
Concentration = Annotated[float, Range(least=1e-6, most=1e6)]


def draw(
    rng: np.random.Generator, alpha: float, steps: int, rows: int, shared: bool = False
) -> npt.NDArray[np.float64]:
    """For each row its share l ~ Beta(alpha, alpha), at least a half and perhaps shared by all rows
    of a step, and a random number whose rank decides which row it is mixed with.
    """
    share = np.broadcast_to(rng.beta(alpha, alpha, (steps, 1 if shared else rows)), (steps, rows))
    return np.stack([np.maximum(share, 1 - share), rng.random((steps, rows))], 1)


def sharpened(temperature: float, *logits: Tensor) -> Tensor:
    """The mean of the predicted probabilities, raised to 1 / temperature and normalised."""
    powered = torch.stack([part.softmax(-1) for part in logits]).mean(0) ** (1 / temperature)
    return powered / powered.sum(-1, keepdim=True)


def mixed(rows: Tensor, targets: Tensor, noise: Tensor, kept: Any = None) -> tuple[Tensor, Tensor]:
    """l x + (1 - l) x' and the same mixture of the targets. Rows that are kept are mixed with each
    other; every other row is mixed with the first row.
    """
    share, ranks = noise[0], noise[1]
    if kept is None:
        partner = ranks.argsort()
    else:
        place = (kept.cumsum(0) - 1).clamp(min=0)  # its position among the rows that are kept
        partner = torch.where(kept, ranks.masked_fill(~kept, torch.inf).argsort()[place], 0)
    wide, narrow = share.view(-1, *[1] * (rows.ndim - 1)), share[:, None]
    return (
        wide * rows + (1 - wide) * rows[partner],
        narrow * targets + (1 - narrow) * targets[partner],
    )
