"""SCARF (Bahri et al., 2022: arXiv:2106.15147)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import normalize

from robustssl.deep import Batch, DeepClassifier, Loss, Net, State, Tensor, cross_entropy
from robustssl.method import Between, Preset, Space
from robustssl.spec import NotNegative, Positive, Range, Share


@dataclass(eq=False, repr=False, kw_only=True)
class SCARF(DeepClassifier):
    """Learn features first and classes later. In a first part of the steps, each row must be
    recognised among all rows of its batch by a copy with corrupted features, each taken from a row
    drawn at random (InfoNCE); after that, only the labels are learned.

    corruption: the probability that a feature is taken from another row of the batch. All features
    may be taken, since it is not known which ones will be missing.
    start: the share of the steps before labels are learned.

    Departures: half of the steps for each part, where the authors stop each by validation rows; the
    features are those of the budget's net; corrupted features come from rows of the same batch.
    """

    weight: NotNegative = 1.0
    corruption: Share = 0.6
    temperature: Positive = 1.0
    start: Annotated[float, Range(least=0, below=1)] = 0.5

    takes = frozenset({"table", "vectors"})
    views = ("weak",)
    presets: ClassVar[dict[str, Preset]] = {
        "paper": Preset("arXiv:2106.15147, section 4 and appendix", {}),
    }
    space: ClassVar[Space] = {
        "weight": Between(0.1, 3.0, log=True),
        "corruption": Between(0.2, 0.8),
        "temperature": Between(0.1, 1.0, log=True),
    }

    def parts(
        self, build: Callable[[], nn.Module], features: int, classes: int
    ) -> dict[str, nn.Module]:
        hidden = nn.Sequential(nn.Linear(features, features), nn.ReLU())
        return {"projection": hidden.append(nn.Linear(features, features))}

    def noise(self, rng: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """For every feature, whether it is taken from another row, and from which one."""
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
