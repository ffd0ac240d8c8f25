"""GGR, geometric gradient rectification (Chen et al., 2026, arXiv:2606.26973)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from robustssl.algorithms._wrapped import Wrapped
from robustssl.deep import State, Tensor
from robustssl.errors import InputError
from robustssl.method import Preset


@dataclass(eq=False, repr=False, kw_only=True)
class GGR(Wrapped):
    """Another method, whose unlabeled gradient loses the part that opposes the labeled gradient:
    g_u - min(<g_l, g_u>, 0) / |g_l|^2 g_l, on the parameters of the net. Heads that the method adds
    follow both gradients.

    base: the method, possibly with options, as in uda[threshold=0.7]. Options that both have, such
    as steps, are given to ggr. ratio: null is the ratio of the base.

    Departures: it also takes bases other than the authors' (OpenMatch, IOMatch and DAC, of which
    DAC is not here); of OpenMatch the gradient is rectified from the first step, where the authors
    wait for the 10 of 512 epochs before FixMatch begins; IOMatch aligns its guesses, which the
    authors switch off in their runs with GGR.
    """

    base: str = "iomatch"

    version = 3
    targets: ClassVar[dict[str, str]] = {"label": "arXiv:2606.26973, title"}
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("JiaheChen2002/GGR: semilearn/algorithms/ggriomatch/ggriomatch.py", {})
    }
    combines = True

    def combine(self, labeled: Tensor, unlabeled: Tensor, state: State) -> tuple[Tensor, State]:
        anchor = labeled * state["backbone"]
        against = (anchor * unlabeled).sum().clamp(max=0)
        share = against / anchor.square().sum().clamp(min=torch.finfo(labeled.dtype).tiny)
        return labeled + unlabeled - share * anchor, state

    @property
    def _base(self) -> Any:
        base = super()._base
        if base.combines:
            name = type(base).__name__
            raise InputError(f"base must not combine gradients in its own way, as {name} does")
        return base
