"""SGD with momentum and Adam (Kingma and Ba, 2015: arXiv:1412.6980) on a stack of vectors.

`update` changes parameters and moments in place; `rate` is the learning rate of each model.
"""

import math

import torch
from torch import Tensor

BETAS, EPS = (0.9, 0.999), 1e-8


def moments(optimizer: str, params: Tensor) -> list[Tensor]:
    return [torch.zeros_like(params) for _ in range(2 if optimizer == "adam" else 1)]


def update(
    optimizer: str,
    params: Tensor,
    gradient: Tensor,
    moments: list[Tensor],
    rate: Tensor,
    step: Tensor,
    momentum: float,
) -> None:
    if optimizer == "sgd":
        params.addcmul_(moments[0].mul_(momentum).add_(gradient), -rate)
        return
    first, second = moments
    first.lerp_(gradient, 1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
    unbias = [1 - torch.exp(math.log(beta) * (step + 1)) for beta in BETAS]
    root = unbias[1].sqrt()
    params.addcmul_(first / second.sqrt().add_(EPS * root), -rate * root / unbias[0])


def share(schedule: str, step: Tensor, steps: int) -> Tensor:
    """The factor of the learning rate in a step; cosine: cos(7 pi / 16 step / steps)."""
    return torch.cos(7 * math.pi / 16 * step / steps) if schedule == "cosine" else 1 + 0 * step
