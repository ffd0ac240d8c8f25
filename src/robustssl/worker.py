"""A group of cells -> records: split, features, fit, score. `run_group` never raises."""

import platform
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
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
from robustssl.features import Matrix, fit_preprocessing
from robustssl.record import Record

Group = tuple[Cell, ...]


def groups(cells: Iterable[Cell]) -> Iterator[Group]:
    """The cells that are run together: those of a supervised algorithm that differ in t alone,
    else one. (A ceiling, `access=labels`, shows labels that depend on t even to such an algorithm.)
    """

    def together(cell: Cell) -> Any:
        supervised = getattr(registry.algorithm(cell.algorithm), "supervised", False)
        ceiling = registry.parse(cell.environment)[1].get("access") == "labels"
        return replace(cell, t=0.0) if supervised and not ceiling else cell

    for _, group in groupby(cells, key=together):
        yield tuple(group)


def run_group(group: Group, keep_predictions: bool = False) -> list[Record]:
    """One record a cell, an error among them if need be.

    A group of several is a supervised algorithm, which sees no t: it is fitted once.
    """
    first = _run(group[0], keep_predictions)
    seconds = first.seconds / len(group)
    return [replace(first, cell=cell, seconds=seconds) for cell in group]


def _run(cell: Cell, keep_predictions: bool) -> Record:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = _fit_and_score(cell, keep_predictions)
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
            record = Record(cell, cell.versions, error=reason, provenance=dict(provenance()))
    notes = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    return replace(record, warnings=tuple(notes))


def _fit_and_score(cell: Cell, keep_predictions: bool) -> Record:
    prepared = prepare(cell.dataset, cell.environment, cell.labels, cell.seed)
    split = prepared.split(cell.t)
    model = registry.estimator(cell.algorithm, **dict(cell.params))
    if "random_state" in model.get_params() and "random_state" not in dict(cell.params):
        named = replace(cell, dataset=prepared.pools.data.name)
        chance = named.rng("algorithm", "dataset", "labels", "seed").integers(2**31)
        model.set_params(random_state=int(chance))
    start = time.perf_counter()
    model.fit(split.X, split.y)
    predicted = np.asarray(model.predict(split.X_test))
    seconds = time.perf_counter() - start
    return Record(
        cell,
        cell.versions,
        scores=_scores(model, split, predicted),
        seconds=seconds,
        digest=digest(split.test_rows, predicted),
        predictions=tuple(predicted.tolist()) if keep_predictions else None,
        provenance={
            **provenance(),
            "dataset_sha256": prepared.pools.data.sha256,
            "split_digest": split.digest,
        },
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


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that cells which differ in algorithm and t have in common."""

    environment: Any
    pools: Pools
    preprocess: Callable[[Matrix], Matrix]

    def split(self, t: float) -> Split:
        split: Split = self.environment.split(self.pools, t)
        if self.environment.scales:
            return split
        return replace(split, X=self.preprocess(split.X), X_test=self.test_features)

    @cached_property
    def test_features(self) -> Matrix:
        """The same at every t."""
        return self.preprocess(self.pools.data.X[self.pools.test])


@lru_cache(maxsize=8)
def prepare(dataset: str, environment: str, labels: int, seed: int) -> Prepared:
    """Pools and preprocessing of one seed.

    Rows are drawn by the name of the data, however the dataset is spelled: the path to a file, or
    the encoder of its texts, does not change them.
    """
    data, open_environment = registry.dataset(dataset), registry.environment(environment)
    cell = Cell("", environment, data.name, labels, 0.0, seed)
    pools = open_environment.pools(data, labels, open_environment.chance(cell))
    if open_environment.scales:
        return Prepared(open_environment, pools, lambda X: X)
    reference = open_environment.split(pools, 0.0).X
    encoder = data.meta.get("encoder", "tfidf")
    return Prepared(open_environment, pools, fit_preprocessing(reference, data.kind, encoder))


@lru_cache(maxsize=1)
def provenance() -> dict[str, Any]:
    """What the numbers were made with."""
    versions = {"python": platform.python_version()}
    for package in ("robustssl", "numpy", "scipy", "scikit-learn", "xgboost-cpu", "xgboost"):
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
