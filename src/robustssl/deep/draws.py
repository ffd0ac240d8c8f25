"""What is drawn for a model: which rows a step sees, and the numbers that change its views."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.deep.inputs import Problem
from robustssl.views import LABELED_VIEWS, VIEWS, Views

Draw = Callable[[np.random.Generator, int], npt.NDArray[Any]]


def draws_of(
    problem: Problem,
    views: Views,
    sizes: tuple[int, int],
    asked: Sequence[str],
    noise: Draw | None,
) -> dict[str, Draw]:
    """The functions that draw for a model; each takes a generator and a number of steps."""
    labeled, unlabeled = sizes

    def view(size: int, strength: Any) -> Draw:
        return lambda rng, steps: views.draw(rng, (steps, size), strength)

    draws = {"labeled": row_numbers(len(problem.X), labeled), "x": view(labeled, "weak")}
    if set(asked) - LABELED_VIEWS:
        draws["unlabeled"] = row_numbers(len(problem.unlabeled), unlabeled)
    for name in asked:
        draws[name] = view(labeled if name in LABELED_VIEWS else unlabeled, VIEWS[name])
    if noise is not None:
        draws["noise"] = noise
    return draws


def row_numbers(count: int, size: int) -> Draw:
    """Draws row numbers in epochs: each is a new random order, cut into batches, and its rest is
    dropped. So no row is twice in a batch, unless there are fewer rows than a batch needs.
    """
    whole = -(-size // count)  # how often a batch goes through all rows
    batches = max(1, count // size)

    def draw(rng: np.random.Generator, steps: int) -> npt.NDArray[np.int64]:
        epochs = -(-steps // batches)
        orders = rng.permuted(np.tile(np.arange(count), (epochs * whole, 1)), axis=1)
        used = orders.reshape(epochs, -1)[:, : batches * size]
        return used.reshape(-1, size)[:steps]

    return draw
