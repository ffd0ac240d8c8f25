"""The curves of a frame, each with what tells it from others."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
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
from robustssl.records.record import CRITERIA, SCORES
from robustssl.spec import parse

_ASIDE = {
    *("t", "seed", "score", *SCORES, *CRITERIA),
    *("printed", "std", "file", "defect", "key", "seconds"),
}
TASK = list(KEYS[:-1])


def task_in_words(values: Sequence[Any], names: Mapping[str, str] = MappingProxyType({})) -> str:
    """A task, given by the values of TASK, as a short name for people, who may call datasets and
    environments by other `names`.
    """
    environment, dataset, labels, source, target = (None if pd.isna(v) else v for v in values)
    if environment is None:
        return ", ".join(str(v) for v in (dataset, labels, source, target) if v is not None)
    task = Task(str(environment), str(dataset or ""), None if labels is None else int(labels))
    pair = f", {source} to {target}" if source and not parse(task.environment)[1] else ""
    return task.called(names) + pair


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
    digests: npt.NDArray[Any] | None = None
    name: str = ""
    method: Method | None = None
    drawn: str = ""
    data: str = "other"
    versions: tuple[int, ...] = ()
    older: bool = False
    rows: float = np.nan
    seconds: float = np.nan

    @property
    def algorithm(self) -> str:
        """The spec of the method."""
        return str(self.key["algorithm"])

    @property
    def task(self) -> Task:
        environment, dataset, labels = (self.key[name] for name in TASK[:3])
        return Task(str(environment), str(dataset), None if labels is None else int(labels))

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


def label_of(key: dict[str, Any]) -> str:
    """The key of a curve in words."""
    return " ".join(f"{k}={v}" for k, v in key.items() if v is not None)


def curves(frame: pd.DataFrame) -> list[KeyedCurve]:
    """The curves of a tidy frame; a seed that lacks a point is left out, with a warning."""
    of_records = "versions" in frame
    extra = [name for name in frame if name not in _ASIDE and name not in KEYS]
    keys = [*KEYS[:-1], *([] if of_records else extra), KEYS[-1]]
    if frame.empty:
        return []
    group = frame.groupby(keys, dropna=False, sort=False).ngroup().to_numpy()
    order = np.argsort(group, kind="stable")
    columns = {str(name): frame[name].to_numpy() for name in frame}
    said = _said(frame, columns) if of_records else (lambda rows: {})
    found = []
    for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        values = {name: columns[name][rows[0]] for name in keys}
        key = {name: None if pd.isna(value) else value for name, value in values.items()}
        points = _points(key, {name: column[rows] for name, column in columns.items()})
        if points is not None:
            described = {"name": str(key["algorithm"]), **said(rows)}
            found.append(KeyedCurve(key, *points, **described))
    return found


def _points(
    key: dict[str, Any], of: Mapping[str, npt.NDArray[Any]]
) -> tuple[Array, Array, tuple[Any, ...], npt.NDArray[Any] | None] | None:
    """The grid, and of the seeds that have all of it the scores and digests of predictions."""
    seeds, row = np.unique(of["seed"], return_inverse=True)
    ts, column = np.unique(of["t"], return_inverse=True)
    points = np.full((len(seeds), len(ts)), np.nan)
    points[row, column] = of["score"]
    if np.count_nonzero(~np.isnan(points)) < len(row):
        raise InputError(f"two scores for one t and seed of {label_of(key)}")
    whole = ~np.isnan(points).any(1)
    if not whole.all():
        told = f"{(~whole).sum()} of {len(points)} seeds lack a point and are left out"
        warnings.warn(f"{label_of(key)}: {told}", stacklevel=3)
    if not whole.any():
        return None
    digests = None
    if "digest" in of:
        digests = np.full(points.shape, None, object)
        digests[row, column] = of["digest"]
        digests = digests[whole]
    return np.asarray(ts, float), points[whole], tuple(seeds[whole].tolist()), digests


def _said(
    frame: pd.DataFrame, of: Mapping[str, npt.NDArray[Any]]
) -> Callable[[npt.NDArray[np.intp]], dict[str, Any]]:
    """What the records of a curve, given by their rows, say beside their scores."""
    names = method_names(frame)
    fields = ("method", "algorithm", "budget", "family", "supervised", "baseline")

    def said(rows: npt.NDArray[np.intp]) -> dict[str, Any]:
        first = rows[0]
        return {
            "name": names[of["algorithm"][first]],
            "method": Method(*(of[name][first] for name in fields)),
            "drawn": of["drawn"][first],
            "data": of["data"][first],
            "versions": tuple(of["versions"][first][1:]),
            "older": bool(of["older"][first]),
            "rows": float(of["test_rows"][rows].min()),
            "seconds": float(of["seconds"][rows].mean()),
        }

    return said


@dataclass(frozen=True, eq=False)
class Pair:
    """A curve and its matched baseline over the seeds that both have, and their difference. Of
    `cells` both predictions are known by their digests, and in `identical` of these they agree.
    """

    mine: Curve
    baseline: Curve
    gain: Curve
    seeds: tuple[Any, ...]
    cells: int
    identical: int


def paired(mine: KeyedCurve, other: KeyedCurve | None) -> Pair | None:
    """Both over the seeds that both have; None if they cannot be laid beside each other."""
    if other is None or mine.versions != other.versions or not np.array_equal(mine.ts, other.ts):
        return None
    shared = [seed for seed in mine.seeds if seed in other.seeds]
    if not shared:
        return None
    (a, ours), (b, theirs) = mine.of_seeds(shared), other.of_seeds(shared)
    cells = identical = 0
    if ours is not None and theirs is not None:
        known = (ours != np.array(None)) & (theirs != np.array(None))
        cells, identical = int(known.sum()), int((known & (ours == theirs)).sum())
    difference = gain(a, b, identical=identical == a.scores.size)
    return Pair(a, b, difference, tuple(shared), cells, identical)


def matched(found: Sequence[KeyedCurve]) -> Iterator[tuple[KeyedCurve, Pair]]:
    """The whole curves whose matched baseline is here, each with the pair over shared seeds."""
    at = {(curve.place, curve.algorithm): curve for curve in found}
    for mine in found:
        baseline = mine.method.baseline if mine.method else None
        pair = paired(mine, at.get((mine.place, baseline))) if baseline else None
        if pair is not None and mine.is_whole:
            yield mine, pair
