"""The data distribution differs: unlabeled rows come from another domain, or from far away."""

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from robustssl.data import Dataset, Rows
from robustssl.environments import Environment
from robustssl.environments._vectors import first_component, standardised
from robustssl.errors import InputError, unknown


@dataclass(frozen=True, kw_only=True)
class Distribution(Environment):
    """t: the share of unlabeled rows from the target: another domain or, for data without domains,
    the half of each class that is farther from its centre.

    source, target: two domains; in a study, `each` stands for every domain that has at least two
    classes in common with the other one. Classes that one of the two lacks are left out. Distances
    are measured on standardised features.
    labeled: `biased` makes some rows likelier to be labeled than others of their class, as where
    labels are not missing at random: a row is of the source with probability sigmoid(2 z), where z
    is its score on the first principal component, standardised within its class. Domains do not
    count then.
    """

    source: str | None = None
    target: str | None = None
    labeled: Literal["random", "biased"] = "random"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labeled == "biased" and (self.source, self.target) != (None, None):
            raise InputError("labeled=biased makes a source and a target of its own: name none")

    def divide(self, data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
        if self.labeled == "biased":
            return _biased(data, rng)
        if data.domain is not None:
            return self._domains(data, data.domain)
        if (self.source, self.target) != (None, None):
            raise InputError(f"{data.name} has no domains, so source and target must not be given")
        if data.kind != "tabular":
            raise InputError(f"{data.name} has no domains, which {data.kind} data need here")
        Z = standardised(data)
        near, far = [], []
        for label in np.unique(data.y):
            rows = np.flatnonzero(data.y == label)
            distance = np.linalg.norm(Z[rows] - Z[rows].mean(0), axis=1)
            rows = rows[np.argsort(distance, kind="stable")]
            near.append(rows[: (len(rows) + 1) // 2])
            far.append(rows[(len(rows) + 1) // 2 :])
        return np.concatenate(near), np.concatenate(far)

    def pairs(self, data: Dataset) -> list[dict[str, str]]:
        """Every ordered pair of domains with the source and the target that are named, if they
        have at least two classes in common.
        """
        if data.domain is None:
            raise InputError(f"{data.name} has no domains that `each` could stand for")
        names = list(dict.fromkeys(data.domain.tolist()))
        for name in {self.source, self.target} - {"each", None}:
            if name not in names:
                raise unknown(f"domain of {data.name}", str(name), names)
        found = [
            {"source": source, "target": target}
            for source in names
            for target in names
            if source != target
            and self.source in ("each", None, source)
            and self.target in ("each", None, target)
            and len(_common_classes(data, source, target)) >= 2
        ]
        if not found:
            raise InputError(f"{data.name} has no two domains with two classes in common")
        return found

    def classes(self, data: Dataset) -> npt.NDArray[np.intp]:
        if data.domain is None or self.labeled == "biased":
            return super().classes(data)
        return _common_classes(data, *self._named(data, data.domain))

    def _domains(self, data: Dataset, domain: np.ndarray) -> tuple[Rows, Rows]:
        source, target = self._named(data, domain)
        common = _common_classes(data, source, target)
        if len(common) < 2:
            raise InputError(
                f"the domains {source!r} and {target!r} of {data.name} must have at least two "
                f"classes in common, got {len(common)}"
            )
        if missing := [data.class_name(k) for k in np.setdiff1d(data.y, common)]:
            warnings.warn(
                f"classes of {data.name} that are left out, since the domain {source!r} or "
                f"{target!r} has no rows of them: {', '.join(missing)}",
                stacklevel=2,
            )
        common_rows = np.isin(data.y, common)
        here, there = (common_rows & (domain == name) for name in (source, target))
        return np.flatnonzero(here), np.flatnonzero(there)

    def _named(self, data: Dataset, domain: np.ndarray) -> tuple[str, str]:
        """The source and the target: the first domains where they are not given."""
        names = list(dict.fromkeys(domain.tolist()))
        if len(names) < 2:
            raise InputError(f"{data.name} has one domain, {names[0]!r}, and two are needed")
        for name in filter(None, (self.source, self.target)):
            if name not in names:
                raise unknown(f"domain of {data.name}", name, names)
        source = self.source or next(name for name in names if name != self.target)
        target = self.target or next(name for name in names if name != source)
        if source == target:
            raise InputError(f"source and target must differ, but are both {source!r}")
        return source, target


def _common_classes(data: Dataset, source: str, target: str) -> npt.NDArray[np.intp]:
    """The classes of which both domains have rows."""
    here, there = (data.y[data.domain == name] for name in (source, target))
    return np.intersect1d(here, there)


def _biased(data: Dataset, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Rows that are likelier to be labeled the higher they score within their class, and others."""
    score, z = first_component(data), np.zeros(len(data.y))
    for label in np.unique(data.y):
        rows = np.flatnonzero(data.y == label)
        z[rows] = (score[rows] - score[rows].mean()) / (score[rows].std() or 1.0)
    # Drawn from a generator of its own, so that other draws stay those of other environments.
    source = rng.spawn(1)[0].random(len(z)) < expit(2 * z)
    return np.flatnonzero(source), np.flatnonzero(~source)
