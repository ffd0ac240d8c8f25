"""A group of cells -> records: split, features, fit, score. `run_group` never raises."""

import multiprocessing
import platform
import subprocess
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

from robustssl import registry
from robustssl.cell import Cell
from robustssl.data import Pools, Split, digest
from robustssl.execution.limits import UNLIMITED, Limits, OverTime
from robustssl.preprocessing import Matrix, fit_preprocessing
from robustssl.records.record import Record

Group = tuple[Cell, ...]

KEPT = 2**24  # bytes of a split of texts, at most, for the next method


def groups(cells: Sequence[Cell]) -> Iterator[Group]:
    """The cells that are run together: those of one curve where models are fitted together, which
    come first, those beside each other that one fit answers, else one.
    """
    curves: dict[Cell, list[Cell]] = {}
    for cell in cells:
        if are_nets((cell,)):
            curves.setdefault(replace(cell, t=0.0, seed=0), []).append(cell)
    yield from map(tuple, curves.values())
    for _, alike in groupby((cell for cell in cells if not are_nets((cell,))), _fit_of):
        yield tuple(alike)


def are_nets(group: Group) -> bool:
    """Whether the models of a group are fitted together, and on a GPU if there is one."""
    return hasattr(registry.algorithm(group[0].algorithm), "fit_together")


def _fit_of(cell: Cell) -> Cell:
    """The first of the cells that have the same fit: a supervised algorithm sees no t. (A ceiling,
    `access=labels`, shows labels that depend on t even to such an algorithm.)
    """
    supervised = getattr(registry.algorithm(cell.algorithm), "supervised", False)
    ceiling = registry.parse(cell.environment)[1].get("access") == "labels"
    return replace(cell, t=0.0) if supervised and not ceiling else cell


def run_group(
    group: Group,
    keep_predictions: bool = False,
    checkpoints: Path | None = None,
    limits: Limits = UNLIMITED,
) -> list[Record]:
    """One record a cell, an error among them if need be. Long training leaves `checkpoints`."""
    made_with = provenance()
    for cell in group:
        cell.versions  # noqa: B018  # loads what it names, which the clock does not count
    try:
        with limits.kept(len(group)):
            return _run_group(group, keep_predictions, checkpoints)
    except (OverTime, MemoryError) as error:
        return [_failure(cell, error, made_with) for cell in group]


def _run_group(group: Group, keep_predictions: bool, checkpoints: Path | None) -> list[Record]:
    alike: dict[Cell, list[Cell]] = {}
    for cell in group:
        alike.setdefault(_fit_of(cell), []).append(cell)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        records = _run([cells[0] for cells in alike.values()], keep_predictions, checkpoints)
    notes = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    return [
        _of_cell(replace(record, warnings=tuple(notes)), cell, len(cells))
        for record, cells in zip(records, alike.values(), strict=True)
        for cell in cells
    ]


def _of_cell(record: Record, cell: Cell, count: int) -> Record:
    """The record of one of the cells that a fit answers; the digest is of the rows it saw."""
    known = {k: v for k, v in record.provenance.items() if k != "split_digest"}
    made_with = record.provenance if cell == record.cell else known
    return replace(record, cell=cell, seconds=record.seconds / count, provenance=made_with)


@dataclass(eq=False)
class _Job:
    """A cell on its way to a record."""

    cell: Cell
    made_with: dict[str, Any]
    model: Any = None
    split: Any = None
    aside: Any = None
    record: Record | None = None

    @contextmanager
    def failing(self) -> Iterator[None]:
        """What goes wrong inside is the record."""
        try:
            yield
        except BaseException as error:
            _let_through(error)
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.record = _failure(self.cell, error, self.made_with)


def _let_through(error: BaseException) -> None:
    """What is not of the cell: its time is over, or a person stops the run in this process."""
    person = isinstance(error, KeyboardInterrupt) and multiprocessing.parent_process() is None
    if person or isinstance(error, OverTime | GeneratorExit):
        raise error


def _failure(cell: Cell, error: BaseException, made_with: Mapping[str, Any]) -> Record:
    try:
        reason = f"{type(error).__name__}: {error}"
    except Exception:
        reason = f"{type(error).__name__}, which cannot say why"
    log = "".join(traceback.format_exception(error))
    reason, log = (text.encode(errors="backslashreplace").decode() for text in (reason, log))
    return Record(cell, cell.versions, error=reason, provenance=made_with, log=log)


def _run(cells: Sequence[Cell], keep_predictions: bool, checkpoints: Path | None) -> list[Record]:
    jobs = [_Job(cell, dict(provenance())) for cell in cells]
    for job in jobs:
        with job.failing():
            _prepare(job)
    able = [job for job in jobs if job.record is None]
    start = time.perf_counter()
    _fit(able, checkpoints)
    seconds = (time.perf_counter() - start) / max(len(able), 1)
    for job in able:
        if job.record is None:
            with job.failing():
                job.record = _score(job, seconds, keep_predictions)
    return [job.record for job in jobs if job.record is not None]


def _prepare(job: _Job) -> None:
    """The model, and the rows it is fitted to. Models that are fitted together share their chance
    with those of other algorithms: start, labeled batches and views differ by the method alone.
    """
    cell, kind = job.cell, registry.algorithm(job.cell.algorithm)
    prepared = prepare(cell.dataset, cell.environment, cell.labels, cell.seed)
    together = hasattr(kind, "fit_together")
    job.split = prepared.split(cell.t, views=together)
    job.aside = prepared.aside(views=together)
    job.model = registry.estimator(cell.algorithm, **dict(cell.params))
    if "random_state" in job.model.get_params() and "random_state" not in dict(cell.params):
        named = replace(cell, dataset=prepared.pools.data.name)
        own = () if together else ("algorithm",)
        chance = named.rng(*own, "dataset", "labels", "seed").integers(2**31)
        job.model.set_params(random_state=int(chance))
    job.made_with["dataset_sha256"] = prepared.pools.data.sha256
    job.made_with["split_digest"] = job.split.digest


def _fit(jobs: Sequence[_Job], checkpoints: Path | None) -> None:
    if jobs and hasattr(jobs[0].model, "fit_together"):
        models, rows = [job.model for job in jobs], [(job.split.X, job.split.y) for job in jobs]
        try:
            errors = jobs[0].model.fit_together(models, rows, checkpoints=checkpoints)
        except BaseException as error:
            _let_through(error)
            errors = [error] * len(jobs)
        for job, failure in zip(jobs, errors, strict=True):
            if failure is not None:
                job.fail(failure)
        return
    for job in jobs:
        with job.failing():
            job.model.fit(job.split.X, job.split.y)


def _score(job: _Job, seconds: float, keep_predictions: bool) -> Record:
    start = time.perf_counter()
    predicted = np.asarray(job.model.predict(job.split.X_test))
    seconds += time.perf_counter() - start
    return Record(
        job.cell,
        job.cell.versions,
        scores=_scores(job.model, job.split, predicted) | _detection(job),
        seconds=seconds,
        digest=digest(job.split.test_rows, predicted),
        predictions=tuple(predicted.tolist()) if keep_predictions else None,
        provenance={**job.made_with, **getattr(job.model, "trained_with_", {})},
    )


def _scores(model: Any, split: Split, predicted: npt.NDArray[Any]) -> dict[str, float]:
    truth = split.y_test
    scores = {
        "accuracy": accuracy_score(truth, predicted),
        "balanced_accuracy": balanced_accuracy_score(truth, predicted),
        "macro_f1": f1_score(truth, predicted, average="macro"),
    }
    if hasattr(model, "predict_proba") and set(truth) == set(model.classes_):
        p = model.predict_proba(split.X_test)
        p = p[:, 1] if p.shape[1] == 2 else p
        scores["auroc"] = roc_auc_score(truth, p, multi_class="ovr", labels=model.classes_)
    return {name: float(value) for name, value in scores.items()}


def _detection(job: _Job) -> dict[str, float]:
    """How well the method's own score tells inconsistent rows, which no split uses, from test
    rows.
    """
    if not len(job.aside) or not hasattr(job.model, "inconsistency_score"):
        return {}
    parts = [job.model.inconsistency_score(X) for X in (job.split.X_test, job.aside)]
    foreign = np.repeat([0, 1], [len(part) for part in parts])
    return {"detection": float(roc_auc_score(foreign, np.concatenate(parts)))}


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that cells which differ in algorithm and t have in common."""

    environment: Any
    pools: Pools
    _texts: dict[tuple[float, bool], Split] = field(default_factory=dict, init=False, repr=False)

    def split(self, t: float, views: bool = False) -> Split:
        """The rows at t; with `views`, images stay images, and texts come in versions. Those of
        texts take seconds, and all methods see the same: they are kept, unless they are large.
        """
        if self.pools.data.kind != "text":
            return self._split(t, views)
        if (t, views) in self._texts:
            return self._texts[t, views]
        split = self._split(t, views)
        if split.X.nbytes <= KEPT:
            self._texts[t, views] = split
        return split

    def _split(self, t: float, views: bool) -> Split:
        split: Split = self.environment.split(self.pools, t)
        if self.environment.scales:
            return split
        kind = self.pools.data.kind
        if views and kind == "image":
            return split
        X = self.preprocess(split.X)
        if views and kind == "text":
            from robustssl.encoders.minilm import text_versions

            versions = (self.preprocess(texts) for texts in text_versions(split.X))
            X = np.stack([X, *versions], axis=2)
        return replace(split, X=X, X_test=self.test_features)

    @cached_property
    def preprocess(self) -> Callable[[Matrix], Matrix]:
        """The one preprocessing, fitted at t = 0; none where `split` scales on its own."""
        if self.environment.scales:
            return lambda X: X
        data = self.pools.data
        reference = self.environment.split(self.pools, 0.0).X
        return fit_preprocessing(reference, data.kind, data.meta.get("encoder", "tfidf"))

    def aside(self, views: bool = False) -> Matrix:
        """The inconsistent rows that are set aside; none where `split` scales on its own."""
        rows = self.pools.aside[:0] if self.environment.scales else self.pools.aside
        X = self.environment.degrade(self.pools, rows)
        as_it_is = len(rows) == 0 or (views and self.pools.data.kind == "image")
        return X if as_it_is else self.preprocess(X)

    @cached_property
    def test_features(self) -> Matrix:
        """The same at every t."""
        return self.preprocess(self.pools.data.X[self.pools.test])


@lru_cache(maxsize=8)
def prepare(dataset: str, environment: str, labels: int, seed: int) -> Prepared:
    """Pools of one seed, and the preprocessing that follows from them.

    Rows are drawn by the name of the data, however the dataset is spelled: the path to a file, or
    the encoder of its texts, does not change them.
    """
    data, open_environment = registry.dataset(dataset), registry.environment(environment)
    cell = Cell("", environment, data.name, labels, 0.0, seed)
    pools = open_environment.pools(data, labels, open_environment.chance(cell))
    return Prepared(open_environment, pools)


@lru_cache(maxsize=1)
def provenance() -> dict[str, Any]:
    """What the numbers were made with."""
    versions = {"python": platform.python_version()}
    for package in (
        "robustssl",
        "numpy",
        "scipy",
        "scikit-learn",
        "torch",
        "xgboost-cpu",
        "xgboost",
    ):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return {"versions": versions, "machine": platform.machine(), "commit": _commit()}


def _commit() -> str | None:
    """The commit of this very source, if it is a checkout: `-dirty` where files were changed
    since.
    """
    here = Path(__file__).resolve()

    def git(*words: str) -> str:
        command = ["git", "-C", str(here.parent), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", here.name)
        dirty = "-dirty" if git("status", "--porcelain", "--", ".") else ""
        return git("rev-parse", "HEAD") + dirty
    except (OSError, subprocess.CalledProcessError):
        return None
