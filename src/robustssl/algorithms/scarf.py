"""SCARF (Bahri et al., 2022: arXiv:2106.15147)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import normalize

from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy
from robustssl.spec import NotNegative, Positive, Range, Share


@dataclass(eq=False, repr=False, kw_only=True)
class SCARF(DeepClassifier):
    """Learn features first, classes later. For a share of the steps, a row is to be told from all
    others of its batch by a copy with corrupted features, each taken from a row drawn at random
    (InfoNCE); after that, labels alone.

    corruption: how likely a feature is taken from another row, which is one of the same batch. Rows
    are the unlabeled ones; which columns will be missing is not known, so that all may be taken.
    start: the share of the steps before labels are learned. The authors corrupt .6, at temperature
    1, for many epochs.
    """

    weight: NotNegative = 1.0
    corruption: Share = 0.3
    temperature: Positive = 0.3
    start: Annotated[float, Range(least=0, below=1)] = 0.3

    targets = frozenset({"feature"})
    takes = frozenset({"table", "text"})
    views = ("weak",)
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"corruption": 0.6, "temperature": 1.0, "start": 0.5}
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        hidden = nn.Sequential(nn.Linear(features, features), nn.ReLU())
        return {"projection": hidden.append(nn.Linear(features, features))}

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """Of every feature whether it is taken from another row, and from which."""
        return rng.random((size[0], 2, *size[1:]), np.float32)

    def loss(self, net: Net, params: Tensor, batch: Batch, state: State) -> Loss:
        rows, (chance, donor) = batch.weak, batch.noise
        others = rows.gather(0, (donor * len(rows)).long().clamp(max=len(rows) - 1))
        corrupted = torch.where(chance < self.corruption, others, rows)
        z = net.part("net.features", params, rows, corrupted)
        one, two = (normalize(part, dim=-1) for part in net.part("projection", params, *z))
        itself = torch.arange(len(rows), device=rows.device)
        contrast = cross_entropy(one @ two.T / self.temperature, itself)
        first = (batch.step < self.start * self.steps).to(contrast.dtype)
        labeled = (1 - first) * cross_entropy(net(params, batch.x), batch.y)
        return labeled, self.weight * first * contrast, state
