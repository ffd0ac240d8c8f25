"""All random numbers of a training: which rows a step sees, and how its views change them.

A model has its own generators, one for each thing that is drawn, so its draws do not depend on the
models that it is stacked with. Numbers are drawn on the CPU, for many steps at once, so that a
model sees the same batches on every device.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from robustssl.deep.draws import Draw, draws_of
from robustssl.deep.inputs import Problem
from robustssl.views import LABELED_VIEWS, VIEWS, Views
from robustssl.views.vectors import VectorViews

BLOCK = 50  # steps whose rows are drawn at once; the same for all methods
NUMBERS = 2**21  # about how many are drawn at once
ROWS = ("labeled", "unlabeled")


class Batches:
    """The rows of a stack on the device, and the batch of each step."""

    def __init__(
        self,
        problems: Sequence[Problem],
        views: Views,
        sizes: tuple[int, int],
        asked: Sequence[str],
        noise: Draw | None,
        prepare: Callable[[Tensor], Tensor],
        place: tuple[torch.device, torch.dtype],
        room: tuple[int, int] = (1, 1),
    ) -> None:
        self.device, self.dtype = place
        self.prepare, self.asked = prepare, asked
        self.views, labeled, unlabeled = self._placed(views, problems)
        self.x, self.unlabeled = self._stack(labeled, room[0]), self._stack(unlabeled, room[1])
        self.y = self._stack([p.codes for p in problems], room[0]).long()
        self.labels = torch.tensor([len(p.X) for p in problems], device=self.device)
        self.counts = torch.tensor([len(p.unlabeled) for p in problems], device=self.device)
        self._draws = [draws_of(p, views, sizes, asked, noise) for p in problems]
        names = list(self._draws[0])
        self._chance = [
            {name: np.random.default_rng([p.seed, k]) for k, name in enumerate(names)}
            for p in problems
        ]
        one = {name: draw(np.random.default_rng(0), 1) for name, draw in self._draws[0].items()}
        most = max(1, NUMBERS // sum(array.size for array in one.values()))
        self.chunk = max(n for n in (1, 2, 5, 10, 25, BLOCK) if n <= most)
        self._drawn, self._block = 0, dict[str, npt.NDArray[Any]]()
        self._buffers = {
            name: torch.empty(
                (len(problems), self.chunk, *array.shape[1:]),
                dtype=torch.long if array.dtype.kind == "i" else self.dtype,
                device=self.device,
            )
            for name, array in one.items()
        }

    def _placed(
        self, views: Views, problems: Sequence[Problem]
    ) -> tuple[Views, list[npt.NDArray[Any]], list[npt.NDArray[Any]]]:
        """The labeled and the unlabeled rows of each model. Those of a bank are places in one bank
        for all models, which the views then hold, so that nothing is copied for each model.
        """
        if not isinstance(views, VectorViews):
            return views, [p.X for p in problems], [p.unlabeled for p in problems]  # type: ignore[misc]
        banks = {id(p.X.bank): p.X.bank for p in problems}  # type: ignore[union-attr]
        ends = np.cumsum([0, *map(len, banks.values())])
        starts = dict(zip(banks, ends.tolist(), strict=False))

        def places(rows: Any) -> npt.NDArray[np.intp]:
            return np.asarray(rows.index + starts[id(rows.bank)], np.intp)

        bank = torch.cat([torch.from_numpy(bank).to(self.device) for bank in banks.values()])
        bank = bank.to(self.dtype) if bank.dtype == torch.float64 else bank
        labeled, unlabeled = ([places(getattr(p, k)) for p in problems] for k in ("X", "unlabeled"))
        return replace(views, bank=bank), labeled, unlabeled

    def _stack(self, arrays: Sequence[npt.NDArray[Any]], room: int) -> Tensor:
        """Arrays padded to the length of the longest, or to the room; padding is never drawn."""
        tallest = max(len(array) for array in arrays)
        first = arrays[0]
        stacked = np.zeros((len(arrays), max(tallest, room), *first.shape[1:]), first.dtype)
        for place, array in zip(stacked, arrays, strict=True):
            place[: len(array)] = array
        tensor = torch.from_numpy(stacked).to(self.device)
        return tensor.to(self.dtype) if tensor.is_floating_point() else tensor

    def tensors(self) -> dict[str, Tensor]:
        """The rows, by name."""
        names = ("x", "y", "unlabeled", "labels", "counts")
        bank = getattr(self.views, "bank", None)
        return {name: getattr(self, name) for name in names} | (
            {} if bank is None else {"bank": bank}
        )

    def draw_as(self, other: "Batches") -> None:
        """Draw what another one draws from now on."""
        self._draws, self._chance = other._draws, other._chance
        self._drawn, self._block = other._drawn, other._block

    def draw(self) -> dict[str, Tensor]:
        """The random numbers of the next steps of every model, on the CPU."""
        place = self._drawn % BLOCK
        if place == 0:
            self._block = {name: self._draw(name, BLOCK) for name in ROWS if name in self._buffers}
        self._drawn += self.chunk
        rows = {name: x[:, place : place + self.chunk] for name, x in self._block.items()}
        others = {n: self._draw(n, self.chunk) for n in self._buffers if n not in rows}
        drawn = {name: torch.from_numpy(x) for name, x in (rows | others).items()}
        on_gpu = self.device.type == "cuda"
        return {name: x.pin_memory() if on_gpu else x for name, x in drawn.items()}

    def _draw(self, name: str, steps: int) -> npt.NDArray[Any]:
        pairs = zip(self._draws, self._chance, strict=True)
        return np.stack([draws[name](chance[name], steps) for draws, chance in pairs])

    def put(self, drawn: dict[str, Tensor]) -> None:
        """Copy what was drawn to the device, without waiting for the steps under way there."""
        for name, tensor in drawn.items():
            self._buffers[name].copy_(tensor, non_blocking=True)

    def at(self, step: Tensor) -> dict[str, Tensor]:
        """The fields of `Batch`, but for the step, for every model in a step; its numbers must be
        drawn and put.
        """
        drawn = {
            name: buffer.index_select(1, step % self.chunk)[:, 0]
            for name, buffer in self._buffers.items()
        }
        x, y = _rows(self.x, drawn["labeled"]), _rows(self.y, drawn["labeled"])
        rows = _rows(self.unlabeled, drawn["unlabeled"]) if "unlabeled" in drawn else None
        changed = {"x": self._view(x, drawn["x"], "weak")}
        for name in self.asked:
            seen: Any = x if name in LABELED_VIEWS else rows
            changed[name] = self._view(seen, drawn[name], VIEWS[name])
        return {
            **{name: drawn[name] for name in ("noise",) if name in drawn},
            **changed,
            "y": y,
            "index": drawn.get("unlabeled", drawn["labeled"]),
            "x_index": drawn["labeled"],
            "rows": self.counts,
        }

    def _view(self, rows: Tensor, chance: Tensor, strength: Any) -> Tensor:
        """A view of the rows of all models in one call, since a view changes each row alone."""
        view = self.views.view(rows.flatten(0, 1), chance.flatten(0, 1), strength)
        return self.prepare(view).unflatten(0, rows.shape[:2]).to(self.dtype)

    def rows(self) -> dict[str, Tensor]:
        """The fields of `Rows`: all rows of every model, unchanged."""
        x, unlabeled = self._plain(self.x), self._plain(self.unlabeled)
        labeled = {"x": x, "y": self.y, "labels": self.labels}
        return {**labeled, "unlabeled": unlabeled, "count": self.counts}

    def of(self, m: int) -> Tensor:
        """The labeled and unlabeled rows of model m, without padding."""
        return torch.cat([self.x[m, : self.labels[m]], self.unlabeled[m, : self.counts[m]]])

    def _plain(self, rows: Tensor) -> Tensor:
        plain = self.prepare(self.views.plain(rows.flatten(0, 1)))
        return plain.unflatten(0, rows.shape[:2]).to(self.dtype)

    def save(self) -> str:
        """The states of all generators; call it between two blocks."""
        states = [{k: rng.bit_generator.state for k, rng in c.items()} for c in self._chance]
        return json.dumps(states)

    def load(self, saved: str, step: int) -> None:
        """Continue from the states that were saved after this number of steps."""
        self._drawn = step
        for chance, states in zip(self._chance, json.loads(saved), strict=True):
            for name, state in states.items():
                chance[name].bit_generator.state = state


def _rows(stacked: Tensor, index: Tensor) -> Tensor:
    """The rows of each model at its own indices."""
    return stacked[torch.arange(len(stacked), device=stacked.device)[:, None], index]
