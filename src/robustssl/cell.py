"""The cell: what is run, its key, and the randomness that follows from it."""

import hashlib
import json
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from robustssl import registry
from robustssl.errors import InputError

Versions = tuple[int, int, int]


@dataclass(frozen=True, order=True, slots=True)
class Cell:
    """One run: everything that can change its number, and nothing else.

    `environment` and `dataset` are canonical specs; `params` are the algorithm's options that
    differ from its defaults. `labels` is per class.
    """

    algorithm: str
    environment: str
    dataset: str
    labels: int
    t: float
    seed: int
    params: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", round(float(self.t), 6))
        if not 0 <= self.t <= 1:
            raise InputError(f"t = {self.t:g} lies outside [0, 1]")
        if self.labels < 1:
            raise InputError(f"labels must be 1 or more a class, unlike {self.labels}")

    @property
    def method(self) -> str:
        """The algorithm with its params, as a spec."""
        return registry.spell(self.algorithm, dict(self.params))

    @property
    def versions(self) -> Versions:
        """The present versions of algorithm, environment and dataset."""
        return (
            registry.version("algorithm", self.algorithm),
            registry.version("environment", registry.parse(self.environment)[0]),
            registry.version("dataset", registry.parse(self.dataset)[0]),
        )

    @property
    def key(self) -> str:
        return cell_key(self, self.versions)

    def rng(self, *names: str) -> np.random.Generator:
        """Randomness that depends on the named fields alone."""
        unknown = set(names) - {field.name for field in fields(self)}
        if unknown:
            raise KeyError(f"a cell has no {sorted(unknown)}")
        values = {name: getattr(self, name) for name in names}
        return np.random.default_rng(int.from_bytes(_digest(values)))


def cell_key(cell: Cell, versions: Versions) -> str:
    """A digest of all fields and versions: a corrected algorithm makes a new cell."""
    return _digest([*astuple(cell), *versions]).hex()


def _digest(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()[:16]
