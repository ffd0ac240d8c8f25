"""How nets begin: their seeds and their first parameters."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn


def start(build: Callable[[], torch.nn.Module], seed: int) -> torch.nn.Module:
    """A net initialised from a seed; torch's global generator is left unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return build()


def seeds_of(seed: int, stages: int) -> list[int]:
    """The seed of the fresh net of each stage. The last one begins like the net of the baseline."""
    earlier = [
        np.random.SeedSequence([seed, stage]).generate_state(1)[0] for stage in range(1, stages)
    ]
    return [*map(int, earlier), seed]


def same_constants(nets: Sequence[nn.Module]) -> bool:
    """Whether what is not trained is the same in all nets: a stack shares it."""

    def constants(net: nn.Module) -> list[Tensor]:
        return [*net.buffers(), *(p for p in net.parameters() if not p.requires_grad)]

    first = constants(nets[0])
    return all(all(map(torch.equal, first, constants(net))) for net in nets[1:])
