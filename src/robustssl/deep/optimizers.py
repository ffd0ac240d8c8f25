"""SGD with momentum and Adam (Kingma and Ba, 2015: arXiv:1412.6980) on a stack of vectors.

`update` changes its moments in place, and returns what to subtract, before the learning rate.
"""

import math

import torch
from torch import Tensor

BETAS, EPS = (0.9, 0.999), 1e-8


def moments(optimizer: str, params: Tensor) -> list[Tensor]:
    return [torch.zeros_like(params) for _ in range(2 if optimizer == "adam" else 1)]


def update(
    optimizer: str, gradient: Tensor, moments: list[Tensor], step: Tensor, momentum: float
) -> Tensor:
    if optimizer == "sgd":
        return moments[0].mul_(momentum).add_(gradient)
    first, second = moments
    first.lerp_(gradient, 1 - BETAS[0])
    second.lerp_(gradient.square(), 1 - BETAS[1])
    unbias = [1 - torch.exp(math.log(beta) * (step + 1)) for beta in BETAS]
    return (first / unbias[0]) / ((second / unbias[1]).sqrt() + EPS)


def rate(schedule: str, step: Tensor, steps: int) -> Tensor:
    """The share of the learning rate that a step has; cosine: cos(7 pi / 16 step / steps)."""
    return torch.cos(7 * math.pi / 16 * step / steps) if schedule == "cosine" else 1 + 0 * step
