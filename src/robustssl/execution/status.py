"""The progress of a study, and what a store holds."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from pydantic import BaseModel, ValidationError

from robustssl import registry
from robustssl.cell import Cell
from robustssl.errors import InputError
from robustssl.records import catalog
from robustssl.records.extras import NO_EXTRAS, Extras
from robustssl.records.frame import CURVE, Present, are_older, newest
from robustssl.records.store import Store
from robustssl.registry.trust import trusting
from robustssl.spec import thing_of
from robustssl.studies.study import Study, study


@dataclass(frozen=True)
class Status:
    """The progress of a study, or what a store holds. `failures` counts cells by reason,
    `logs` tells of one cell each where in the code it failed. `seconds` is the work done, `left`
    about the work that is missing. `studies` are those that were run in the store; `uncounted`,
    what the study names in modules that are not trusted.
    """

    cells: int
    done: int
    missing: int
    stale: int
    seconds: float
    failures: Mapping[str, int] = field(default_factory=dict)
    left: float = 0.0
    logs: Mapping[str, str] = field(default_factory=dict)
    studies: tuple[tuple[str, "Status"], ...] = ()
    uncounted: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        return sum(self.failures.values())


def status(
    store: str | Path,
    of: str | Path | Mapping[str, Any] | Study | None = None,
    trust: Iterable[str] = (),
) -> Status:
    """Count the cells in a store; with a study, its cells alone, and those that are missing. Of the
    modules that the study names only those in `trust` are imported.
    """
    with trusting(trust) as trusted:
        found = _count(store, None if of is None else study(of))
    return replace(found, uncounted=tuple(trusted.refused))


def _count(store: str | Path, chosen: Study | None) -> Status:
    with Store(store, create=False) as opened:
        tried, every = opened.frame(failed_only=True), opened.counts()
        present = newest([tried, every], catalog.version if chosen is None else _present(chosen))
        bad = tried[~are_older(tried, present)].drop_duplicates("key", keep="last")
        if chosen is not None:
            return _progress(Outline.of(chosen), opened, bad, present)
        outlines = Outline.kept(opened)
        known = [
            (o.title, _progress(o, opened, bad, present))
            for o in outlines
            if not o.is_part(outlines)
        ]
        return _status(totals_of(every, present), bad, studies=tuple(known))


def _present(chosen: Study) -> Present:
    """The present versions of what a study names, also where it is not built in."""
    specs = {
        "algorithm": list(chosen.methods),
        "environment": chosen.environments,
        "dataset": chosen.datasets,
    }
    named = {(kind, thing_of(kind, spec)) for kind, every in specs.items() for spec in every}

    def present(kind: str, name: str) -> int | None:
        known = (kind, name) in named
        return registry.version(cast(Any, kind), name) if known else catalog.version(kind, name)

    return present


def totals_of(counts: pd.DataFrame, present: Present | None = None) -> pd.DataFrame:
    """The counts of a store, with `stale` marking those of other than the present versions."""
    return counts.assign(stale=are_older(counts, present or newest([counts])))


def _status(totals: pd.DataFrame, bad: pd.DataFrame, missing: int = 0, **more: Any) -> Status:
    good = totals[~totals.stale]
    done = int(good.cells.sum())
    logs = bad.dropna(subset="log").drop_duplicates("error")
    return Status(
        cells=done + len(bad) + missing,
        done=done,
        missing=missing,
        stale=int(totals[totals.stale].cells.sum()),
        seconds=float(good.seconds.sum()),
        failures=bad.error.value_counts().to_dict(),
        logs=dict(zip(logs.error, logs.log, strict=True)),
        **more,
    )


class Outline(BaseModel):
    """The curves, t, seeds and extras of a study: enough to count its progress without importing
    anything. The store keeps it.
    """

    title: str
    curves: list[tuple[str, str, str, int]]  # method, environment, dataset, labels
    ts: list[float]
    seeds: list[int]
    extras: Extras = NO_EXTRAS

    @classmethod
    def of(cls, chosen: Study) -> "Outline":
        places = ", ".join([*chosen.environments, *chosen.datasets])
        title = chosen.title or f"{len(chosen.algorithms)} algorithms, {places}"
        curves = [(method, *astuple(task)) for method, task in chosen.curves()]
        ts, seeds, extras = chosen.ts, chosen.seeds, chosen.extras
        return cls(title=title, curves=curves, ts=ts, seeds=seeds, extras=extras)

    def keep(self, store: Store) -> None:
        text = self.model_dump_json(exclude_defaults=True)  # as older versions wrote it
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        store.note(f"study {digest}", self.model_dump(exclude_defaults=True))

    def is_part(self, others: "Sequence[Outline]") -> bool:
        """Whether another study contains all of this one, such as one with more seeds."""
        mine = self._parts()
        return any(
            all(a <= b for a, b in zip(mine, other._parts(), strict=True))
            and (mine != other._parts() or self.title < other.title)
            for other in others
        )

    def _parts(self) -> tuple[set[Any], ...]:
        asked = {name for name, is_asked in self.extras._asdict().items() if is_asked}
        return set(self.curves), set(self.ts), set(self.seeds), asked

    @classmethod
    def kept(cls, store: Store) -> "list[Outline]":
        try:
            return [cls(**document) for document in store.notes("study ")]
        except (ValidationError, TypeError) as error:
            raise InputError(f"{store.place} holds a study that cannot be read: {error}") from error


def _progress(outline: Outline, store: Store, bad: pd.DataFrame, present: Present) -> Status:
    """The progress of a study, counted by the database, since stores may be very large."""
    ts, seeds, names = outline.ts, outline.seeds, CURVE
    curves = pd.MultiIndex.from_tuples(outline.curves, names=names)
    every = totals_of(store.counts(ts, seeds, outline.extras), present)
    totals, bad = (
        frame[frame.set_index(names).index.isin(curves)]
        for frame in (every, bad[bad.t.isin(ts) & bad.seed.isin(seeds)])
    )
    known = pd.concat([totals[~totals.stale], bad.assign(cells=1)])
    counts = known.groupby(names).cells.sum().reindex(curves, fill_value=0)
    missing = len(ts) * len(seeds) - counts
    seconds = seconds_a_cell(every)
    tasks = [seconds.get(curve[:3], np.nan) for curve in curves]
    each = pd.Series(tasks, curves).fillna(np.mean(list(seconds.values()) or [0.0]))
    left = float((missing * each).sum())
    return _status(totals, bad, int(missing.sum()), left=left)


Place = tuple[str, str, str]  # method, environment, dataset


def place_of(cell: Cell) -> Place:
    return cell.spec, cell.environment, cell.dataset


def seconds_a_cell(totals: pd.DataFrame) -> dict[Place, float]:
    """The mean seconds of a cell of each method, environment and dataset in a store."""
    present = totals[~totals.stale]
    return dict(present.groupby(["algorithm", "environment", "dataset"]).each.mean().to_dict())
