"""What the contracts of an environment are checked on: its splits of a dataset."""

from dataclasses import dataclass
from typing import Any

from robustssl.data import Pools, Split
from robustssl.errors import InputError
from robustssl.spec import parse
from robustssl.splits import Prepared, prepare

LABELS = 3  # per class
TS = (0.0, 0.1, 0.35, 0.5, 0.8, 1.0)


@dataclass(frozen=True)
class Case:
    """An environment on a dataset, split at every t of a grid."""

    spec: str
    dataset: str
    prepared: Prepared
    raw: dict[float, Split]

    @property
    def pools(self) -> Pools:
        return self.prepared.pools

    @property
    def unlabeled(self) -> dict[float, Any]:
        labeled = len(self.pools.labeled)
        return {t: split.rows[labeled:] for t, split in self.raw.items()}

    @property
    def by_column(self) -> bool:
        return self.pools.by_column


def case(spec: str, dataset: str, labels: int = LABELS, seed: int = 0) -> Case:
    if "access" in parse(spec)[1]:
        raise InputError("access hides or shows rows by design: check the environment without it")
    prepared = prepare(dataset, spec, labels, seed)
    raw = {t: prepared.environment.split(prepared.pools, t) for t in TS}
    return Case(spec, dataset, prepared, raw)
