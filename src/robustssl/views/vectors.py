"""Views of vectors: those that were made before, of rows of a bank."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robustssl.views._protocol import Strength

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class VectorViews:
    """One of the weak or of the strong views of a row.

    Rows are places in the bank, (m, 1 + weak + strong, ...), where the row itself comes first;
    `plain` also takes the rows themselves, and then needs no bank.
    """

    weak: int
    strong: int
    bank: Any = None

    def draw(
        self, rng: np.random.Generator, size: tuple[int, ...], strength: Strength
    ) -> npt.NDArray[np.float32]:
        return rng.random((*size, 1), np.float32)

    def plain(self, rows: "Tensor") -> "Tensor":
        found: Tensor = rows if rows.ndim > 1 else self.bank[rows, 0]
        return found

    def view(self, rows: "Tensor", chance: "Tensor", strength: Strength) -> "Tensor":
        first, count = (1, self.weak) if strength == "weak" else (1 + self.weak, self.strong)
        which = first + (chance[..., 0] * count).long().clamp(max=count - 1)
        found: Tensor = self.bank[rows, which]
        return found
