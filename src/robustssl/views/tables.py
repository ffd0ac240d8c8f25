"""Views of tables: features with noise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robustssl.views._protocol import Strength

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class TableViews:
    """Noise on standardised features, of the standard deviations given."""

    features: int
    weak: float
    strong: float

    def draw(
        self, rng: np.random.Generator, size: tuple[int, ...], strength: Strength
    ) -> npt.NDArray[np.float32]:
        return rng.standard_normal((*size, self.features), np.float32)

    def plain(self, rows: "Tensor") -> "Tensor":
        return rows

    def view(self, rows: "Tensor", chance: "Tensor", strength: Strength) -> "Tensor":
        return rows + getattr(self, strength) * chance
