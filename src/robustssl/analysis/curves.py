"""The curves of a frame, each with what tells it from others."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustssl.analysis.compare import gain
from robustssl.analysis.curve import Curve
from robustssl.analysis.interval import Array, Ties
from robustssl.cell import Task
from robustssl.errors import InputError
from robustssl.method import Method
from robustssl.records.frame import method_names
from robustssl.records.published import KEYS
from robustssl.records.record import SCORES
from robustssl.spec import parse

_ASIDE = {"t", "seed", "score", *SCORES, "printed", "std", "file", "defect", "key", "seconds"}
TASK = list(KEYS[:-1])


def task_in_words(values: Sequence[Any]) -> str:
    """A task, given by the values of TASK, as a short name for people."""
    environment, dataset, labels, source, target = (None if pd.isna(v) else v for v in values)
    if environment is None:
        return ", ".join(str(v) for v in (dataset, labels, source, target) if v is not None)
    task = Task(str(environment), str(dataset or ""), None if labels is None else int(labels))
    pair = f", {source} to {target}" if source and not parse(task.environment)[1] else ""
    return task.name + pair


@dataclass(frozen=True, eq=False)
class KeyedCurve:
    """The points of one curve (seeds, T) and the key columns that tell it from others.

    What records say beside: the `method`, the name to call it by, the name by which rows are
    `drawn` and the kind of `data`, versions of environment and dataset, whether a version is an
    `older` one, the number of test `rows`, and digests of the predictions (seeds, T).
    """

    key: dict[str, Any]
    ts: Array
    scores: Array
    seeds: tuple[Any, ...]
    name: str
    method: Method | None = None
    drawn: str = ""
    data: str = "other"
    versions: tuple[int, ...] = ()
    older: bool = False
    rows: float = np.nan
    digests: npt.NDArray[Any] | None = None
    seconds: float = np.nan

    @property
    def algorithm(self) -> str:
        """The spec of the method."""
        return str(self.key["algorithm"])

    @property
    def task(self) -> Task:
        labels = self.key["labels"]
        return Task(
            str(self.key["environment"]),
            str(self.key["dataset"]),
            None if labels is None else int(labels),
        )

    @property
    def place(self) -> tuple[Any, ...]:
        """What curves must share to be compared: the task, and the versions it was drawn with."""
        return (*(self.key[name] for name in TASK), *self.versions)

    @property
    def is_whole(self) -> bool:
        return {0.0, 1.0} <= set(self.ts)

    @cached_property
    def curve(self) -> Curve:
        return Curve(self.ts, self.scores, ties=Ties(self.rows))

    def of_seeds(self, seeds: Sequence[Any]) -> "tuple[Curve, npt.NDArray[Any] | None]":
        """The curve of some of its seeds, and the digests of their predictions."""
        rows = [self.seeds.index(seed) for seed in seeds]
        digests = None if self.digests is None else self.digests[rows]
        return Curve(self.ts, self.scores[rows], ties=Ties(self.rows)), digests

    @property
    def label(self) -> str:
        return label_of(self.key)


def label_of(key: dict[str, Any]) -> str:
    """The key of a curve in words."""
    return " ".join(f"{k}={v}" for k, v in key.items() if v is not None)


def curves(frame: pd.DataFrame) -> list[KeyedCurve]:
    """The curves of a tidy frame; a seed that lacks a point is left out, with a warning."""
    of_records = "versions" in frame
    extra = [name for name in frame if name not in _ASIDE and name not in KEYS]
    keys = [*KEYS[:-1], *([] if of_records else extra), KEYS[-1]]
    names = method_names(frame) if of_records else {}
    found = []
    for values, group in frame.groupby(keys, dropna=False, sort=False):
        key = {k: None if pd.isna(v) else v for k, v in zip(keys, values, strict=True)}
        points = _points(key, group)
        if points is None:
            continue
        ts, seeds, scores, digests = points
        said = _said(group, names) if of_records else {"name": str(key["algorithm"])}
        found.append(KeyedCurve(key, ts, scores, seeds, digests=digests, **said))
    return found


def _points(
    key: dict[str, Any], group: pd.DataFrame
) -> tuple[Array, tuple[Any, ...], Array, npt.NDArray[Any] | None] | None:
    """The grid, the seeds that have all of it, their scores and the digests of predictions."""
    row, seeds = pd.factorize(group.seed, sort=True)
    column, ts = pd.factorize(group.t, sort=True)
    points = np.full((len(seeds), len(ts)), np.nan)
    points[row, column] = group.score
    words = label_of(key)
    if np.count_nonzero(~np.isnan(points)) < len(group):
        raise InputError(f"two scores for one t and seed of {words}")
    whole = ~np.isnan(points).any(1)
    if not whole.all():
        warnings.warn(
            f"{words}: {(~whole).sum()} of {len(points)} seeds lack a point and are left out",
            stacklevel=3,
        )
    if not whole.any():
        return None
    digests = None
    if "digest" in group:
        digests = np.full(points.shape, None, object)
        digests[row, column] = group.digest
        digests = digests[whole]
    return np.asarray(ts, float), tuple(seeds[whole].tolist()), points[whole], digests


def _said(group: pd.DataFrame, names: dict[str, str]) -> dict[str, Any]:
    """What the records of a curve say beside their scores."""
    first = group.iloc[0]
    method = Method(
        first.method, first.algorithm, first.budget, first.family, first.supervised, first.baseline
    )
    return {
        "name": names[first.algorithm],
        "method": method,
        "drawn": first.drawn,
        "data": first["data"],
        "versions": tuple(first.versions[1:]),
        "older": bool(first.older),
        "rows": float(group.test_rows.min()),
        "seconds": float(group.seconds.mean()),
    }


@dataclass(frozen=True, eq=False)
class Pair:
    """A curve and its matched baseline over the seeds that both have, and their difference."""

    mine: Curve
    baseline: Curve
    gain: Curve


def paired(mine: KeyedCurve, other: KeyedCurve | None) -> Pair | None:
    """Both over the seeds that both have; None if they cannot be laid beside each other."""
    if other is None or mine.versions != other.versions or not np.array_equal(mine.ts, other.ts):
        return None
    shared = [seed for seed in mine.seeds if seed in other.seeds]
    if not shared:
        return None
    (a, ours), (b, theirs) = mine.of_seeds(shared), other.of_seeds(shared)
    known = ours is not None and theirs is not None and all(x is not None for x in ours.flat)
    identical = known and bool(np.array_equal(ours, theirs))  # type: ignore[arg-type]
    return Pair(a, b, gain(a, b, identical=identical))


def matched(found: Sequence[KeyedCurve]) -> Iterator[tuple[KeyedCurve, Pair]]:
    """The whole curves whose matched baseline is here, each with the pair over shared seeds."""
    at = {(curve.place, curve.algorithm): curve for curve in found}
    for mine in found:
        baseline = mine.method.baseline if mine.method else None
        pair = paired(mine, at.get((mine.place, baseline))) if baseline else None
        if pair is not None and mine.is_whole:
            yield mine, pair
