"""What the views of tables, texts and images have in common."""

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

Strength = Literal["weak", "strong"]


class Views(Protocol):
    """Views are pure functions of rows and of random numbers that were drawn before."""

    def draw(
        self, rng: np.random.Generator, size: tuple[int, ...], strength: Strength
    ) -> npt.NDArray[np.float32]:
        """Random numbers for the views of `size` rows."""

    def plain(self, rows: "Tensor") -> "Tensor":
        """The rows themselves, unchanged, as a net takes them."""

    def view(self, rows: "Tensor", chance: "Tensor", strength: Strength) -> "Tensor":
        """The rows changed, as the random numbers `chance` say."""
