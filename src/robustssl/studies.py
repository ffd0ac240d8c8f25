"""Studies: which cells belong to a question, and running those that are missing."""

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from rich.console import Console

from robustssl import registry
from robustssl.cell import Cell
from robustssl.curve import GRID, check_grid
from robustssl.engines.local import run_groups
from robustssl.errors import InputError, unknown
from robustssl.progress import watch
from robustssl.store import Store, exists, failures, url_of
from robustssl.worker import Group, groups, run_group

ENGINES = ("local", "ray")


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str | int | float) else value


def _seeds(value: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if value > 10_000:
        raise InputError(f"{value} would be that many seeds; write [{value}] for one")
    return list(range(value))


Pattern = Annotated[dict[Literal["algorithm", "environment", "dataset"], str], Field(min_length=1)]
Names = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]


class Study(BaseModel):
    """Every algorithm in every environment on every dataset, over a grid of t and several seeds.

    `labels` is per class; `total_labels` instead is spread evenly over the classes that have any.
    `budget` is what the nets share: quick (a perceptron, 500 steps), reference or full.
    `exclude` leaves out what cannot be run: {algorithm: tsvm, dataset: covertype}.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: str = ""
    budget: str | None = None
    algorithms: Names
    environments: Names
    datasets: Names
    labels: Annotated[list[int], BeforeValidator(_listed), Field(min_length=1)] = [5]
    total_labels: Annotated[list[int], BeforeValidator(_listed)] = []
    ts: Annotated[list[float], BeforeValidator(_listed)] = list(GRID)
    seeds: Annotated[list[int], BeforeValidator(_seeds), Field(min_length=1)] = [0, 1, 2, 3, 4]
    exclude: list[Pattern] = []

    @field_validator("algorithms", "environments", "datasets")
    @classmethod
    def _canonical(cls, specs: list[str], info: Any) -> list[str]:
        kind = info.field_name[:-1]
        budget = info.data.get("budget")
        return list(dict.fromkeys(registry.canonical(kind, spec, budget) for spec in specs))

    @field_validator("labels", "total_labels", "seeds")
    @classmethod
    def _counts(cls, values: list[int], info: Any) -> list[int]:
        least = 0 if info.field_name == "seeds" else 1
        if min(values, default=1) < least:
            raise InputError(f"must be {least} or more, unlike {min(values)}")
        if max(values, default=1) >= 2**32:
            raise InputError(f"must be below 2^32, unlike {max(values)}")
        return sorted(set(values))

    @field_validator("exclude")
    @classmethod
    def _canonical_exclude(cls, patterns: list[dict[Any, str]], info: Any) -> list[dict[Any, str]]:
        budget = info.data.get("budget")
        return [
            {kind: registry.canonical(kind, spec, budget) for kind, spec in pattern.items()}
            for pattern in patterns
        ]

    @model_validator(mode="after")
    def _one_kind_of_labels(self) -> Self:
        if self.total_labels and "labels" in self.model_fields_set:
            raise InputError("give labels (per class) or total_labels, not both")
        return self

    @field_validator("ts")
    @classmethod
    def _grid(cls, ts: list[float]) -> list[float]:
        return sorted(check_grid(ts).tolist())

    def cells(self) -> list[Cell]:
        """All cells, seed by seed, so that a run cut short has whole curves of the first seeds."""
        methods = [registry.parse(spec) for spec in self.algorithms]
        places = [
            (dataset, self._per_class(labels, environment, dataset), asked, environment)
            for dataset in self.datasets
            for labels in self.total_labels or self.labels
            for asked in self.environments
            for environment in each_pair(asked, dataset)
        ]
        return [
            Cell(name, environment, dataset, labels, t, seed, tuple(sorted(params.items())))
            for seed in self.seeds
            for dataset, labels, asked, environment in places
            for name, params in methods
            if not self._is_excluded(registry.spell(name, params), (asked, environment), dataset)
            for t in self.ts
        ]

    def _is_excluded(self, algorithm: str, environments: tuple[str, str], dataset: str) -> bool:
        names = {"algorithm": (algorithm,), "environment": environments, "dataset": (dataset,)}
        return any(all(v in names[k] for k, v in pattern.items()) for pattern in self.exclude)

    def _per_class(self, labels: int, environment: str, dataset: str) -> int:
        if not self.total_labels:
            return labels
        total, classes = labels, len(np.unique(registry.dataset(dataset).y))
        known = registry.environment(environment).known(classes)
        if total % known:
            raise InputError(
                f"{total} labels cannot be spread evenly over the {known} classes of {dataset} "
                f"that have labels in the environment {environment}"
            )
        return int(total // known)


def each_pair(environment: str, dataset: str) -> list[str]:
    """The environments that `each` stands for in `distribution[source=each,target=each]`."""
    name, options = registry.parse(environment)
    if "each" not in options.values():
        return [environment]
    if not hasattr(found := registry.environment(environment), "pairs"):
        raise InputError(f"`each` stands for domains, which {name} does not have")
    pairs = found.pairs(registry.dataset(dataset))
    return [registry.spell(name, {**options, **pair}) for pair in pairs]


_REFERENCE = (
    *("ssgmm", "tsvm", "label_propagation"),
    *("label_spreading", "tri_training", "assemble"),
)

_ROBUST = (
    *("uasd", "cafa", "mtcf", "fix_a_step", "defixmatch", "ggr"),
    *("adamatch", "bidirectional_adaptation"),
    *("openmatch", "iomatch", "scomatch", "ssb", "scarf", "feature_dropout"),
)

NAMED: Mapping[str, Mapping[str, Any]] = {
    "quickstart": {
        "title": "Four learners and their baselines on three small tables, in three environments",
        "algorithms": [
            *("supervised_logistic", "self_training"),
            *("supervised_kernel", "label_spreading"),
            *("supervised_gaussian", "ssgmm"),
            *("supervised_net", "fixmatch"),
        ],
        "environments": ["distribution", "label", "feature"],
        "datasets": ["iris", "wine", "digits"],
        "labels": [5],
    },
    "robust-digits": {
        "title": "The methods that claim robustness, FixMatch and their baseline, on digits",
        "algorithms": ["supervised_net", "fixmatch", *_ROBUST],
        "environments": ["distribution", "label", "feature"],
        "datasets": ["digits"],
        "labels": [5],
    },
    "reproduce-statistical": {
        "title": "The statistical algorithms as the published benchmark ran them, on its splits",
        "algorithms": [
            "supervised_xgboost",
            *(f"{name}[preset=reference]" for name in _REFERENCE),
        ],
        "environments": [
            f"reference[kind={kind}]" for kind in ("distribution", "feature", "label")
        ],
        "datasets": ["iris", "wine", "letter"],
        "labels": [5, 10],
        "exclude": [  # ten thousand steps on a full graph: minutes to an hour a cell
            {"algorithm": "label_propagation[preset=reference]", "dataset": "letter"}
        ],
    },
}


class _StrictLoader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, where the last would win silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise yaml.YAMLError(f"the key {twice!r} stands there twice")
        return super().construct_mapping(node, deep)


def study(source: str | Path | Mapping[str, Any] | Study) -> Study:
    """A study by name, from a YAML file, or from a mapping of the same keys."""
    if isinstance(source, Study):
        return source
    if isinstance(source, Mapping):
        return _validated(dict(source), "the study")
    if str(source) in NAMED:
        return _validated(dict(NAMED[str(source)]), str(source))
    path = Path(source)
    if not path.is_file():
        if path.suffix in (".yaml", ".yml"):
            raise InputError(f"there is no study file {path}")
        raise unknown("study", str(source), NAMED)
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML: {error}") from error
    if not isinstance(document, dict):
        raise InputError(f"{path} must hold keys and values, such as `datasets: [iris]`")
    return _validated(document, str(path))


def _validated(document: dict[str, Any], where: str) -> Study:
    try:
        return Study(**document)
    except ValidationError as error:
        reasons = [_reason(item) for item in error.errors()]
        raise InputError(f"{where}: " + "; ".join(reasons)) from error
    except TypeError as error:
        raise InputError(f"{where}: keys must be words ({error})") from error


def _reason(item: Any) -> str:
    place = ".".join(map(str, item["loc"]))
    if item["type"] == "extra_forbidden":
        return str(unknown("key", place, Study.model_fields))
    if item["type"] == "missing":
        return f"the key {place!r} is missing"
    if item["type"] == "value_error":
        return f"{place}: {item['ctx']['error']}".removeprefix(": ")
    return f"{place}: {item['msg']}"


@dataclass(frozen=True)
class Status:
    """How far a study is in a store, or what a store holds. `failures` counts cells by reason."""

    cells: int
    done: int
    missing: int
    stale: int
    seconds: float
    failures: Mapping[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        return sum(self.failures.values())


def status(store: str | Path, of: str | Path | Mapping[str, Any] | Study | None = None) -> Status:
    """What a store holds; with a study, of its cells alone and how many are missing."""
    with Store(store, create=False) as opened:
        if of is None:
            return _status_of_all(opened)
        frame = opened.frame()
    cells = study(of).cells()
    keys = {cell.key for cell in cells}
    asked = {(c.method, c.environment, c.dataset, c.labels, c.t, c.seed) for c in cells}
    named = frame[["algorithm", "environment", "dataset", "labels", "t", "seed"]]
    mine = [row in asked for row in named.itertuples(index=False, name=None)]
    frame = frame[np.array(mine, bool)]
    stale = frame[frame.stale & frame.error.isna()]
    bad = failures(frame)
    good = frame[frame.error.isna() & ~frame.stale]
    return Status(
        cells=len(keys),
        done=len(good),
        missing=len(keys) - len(good) - len(bad),
        stale=len(stale),
        seconds=float(good.seconds.sum()),
        failures=bad.error.value_counts().to_dict(),
    )


def _status_of_all(store: Store) -> Status:
    """Counted by the database: a store may hold millions of records."""
    totals, bad = store.totals(), failures(store.frame(failed_only=True))
    good = totals[~totals.stale]
    done = int(good.cells.sum())
    return Status(
        cells=done + len(bad),
        done=done,
        missing=0,
        stale=int(totals[totals.stale].cells.sum()),
        seconds=float(good.seconds.sum()),
        failures=bad.error.value_counts().to_dict(),
    )


def run(
    source: str | Path | Mapping[str, Any] | Study,
    store: str | Path = "robustssl.sqlite",
    *,
    workers: int | None = None,
    retry: bool = False,
    keep_predictions: bool = False,
    progress: bool = True,
    engine: str = "local",
    address: str | None = None,
) -> Status:
    """Run the cells of a study that the store lacks, and say how it stands then.

    Every group of cells is committed the moment it is done, so a run that is killed goes on where
    it was. Cells that failed are left alone unless `retry`. `workers` is the number of processes
    (all cores by default). `engine` is local, or ray: a running cluster by its `address`, or one
    started here.
    """
    chosen = study(source)
    _refuse_impossible_options(chosen)
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if address is not None and engine != "ray":
        raise InputError("an address is that of a Ray cluster: add engine=ray (--engine ray)")
    with Store(store) as opened:
        _refuse_changed_files(chosen, opened)
        cells = missing_cells(chosen, opened, retry)
        checkpoints = _checkpoints(store)
        work = partial(run_group, keep_predictions=keep_predictions, checkpoints=checkpoints)
        waiting = _longest_first(groups(cells), _seconds(opened))
        count = _workers(workers, len(cells))
        if engine == "ray":
            from robustssl.engines import ray

            results = ray.run_groups(waiting, work, count, address)
        else:
            results = run_groups(waiting, work, count)
        with (
            watch(len(cells), Console(stderr=True, quiet=not progress)) as seen,
            closing(results),
        ):
            for records in results:
                opened.add_all(records)
                for record in records:
                    seen.step(record.error is not None)
    with suppress(OSError):
        checkpoints.rmdir()
    return status(store, chosen)


Task = tuple[str, str, str]


def _task(cell: Cell) -> Task:
    return cell.method, cell.dataset, cell.environment


def _seconds(store: Store) -> dict[Task, float]:
    """What a cell of each task took on average, as far as the store knows."""
    frame = store.frame()
    good = frame[frame.error.isna()]
    means = good.groupby(["algorithm", "dataset", "environment"]).seconds.mean()
    return dict(means.to_dict())


def _longest_first(waiting: Iterable[Group], seconds: Mapping[Task, float]) -> Iterable[Group]:
    """So that no long group is left to the end; what is not known comes first, in its order."""
    if not seconds:
        return waiting

    def left(group: Group) -> float:
        return -len(group) * seconds.get(_task(group[0]), np.inf)

    return sorted(waiting, key=left)


def _checkpoints(store: str | Path) -> Path:
    """Beside a file; of a database, here."""
    return Path("robustssl.checkpoints" if url_of(store) else f"{store}.checkpoints").absolute()


def _refuse_impossible_options(chosen: Study) -> None:
    """What would fail every cell of a method, before the first."""
    for spec in chosen.algorithms:
        check = getattr(registry.estimator(spec), "_check_options", None)
        if check is not None:
            check()


def _refuse_changed_files(chosen: Study, store: Store) -> None:
    """A file of one's own must be the one that the store's records were made with."""
    for spec in chosen.datasets:
        if "path" in registry.parse(spec)[1]:
            known = store.digests(spec)
            if known and known != {registry.dataset(spec).sha256}:
                raise InputError(
                    f"{spec} has changed since the store's records were made: give the changed "
                    "file another name, or use another store"
                )


def missing_cells(chosen: Study, store: Store, retry: bool = False) -> list[Cell]:
    """The cells of a study that have no success and, unless `retry`, no failure."""
    known = store.done() if retry else store.done() | store.failed()
    return [cell for cell in chosen.cells() if cell.key not in known]


def _workers(asked: int | None, cells: int) -> int:
    if asked is not None and asked < 1:
        raise InputError(f"workers must be 1 or more, unlike {asked}")
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(asked or cores, max(cells, 1))


TRIAL_SECONDS = 10.0


@dataclass(frozen=True)
class Plan:
    """What a run would do, and about how long it would take."""

    cells: int
    done: int
    failed: int
    left: int
    workers: int
    seconds: float
    problems: tuple[str, ...]  # why cells that were tried failed


def plan(
    source: str | Path | Mapping[str, Any] | Study,
    store: str | Path = "robustssl.sqlite",
    *,
    workers: int | None = None,
    retry: bool = False,
) -> Plan:
    """How many cells a run would do, and about how long, from measured times; writes nothing.

    Where the store knows no time of an algorithm on a dataset in an environment, one cell is
    tried, for 10 seconds in all.
    """
    chosen = study(source)
    _refuse_impossible_options(chosen)
    every, cells, times = chosen.cells(), chosen.cells(), {}
    done = failed = 0
    if exists(store):
        with Store(store) as opened:
            _refuse_changed_files(chosen, opened)
            cells = missing_cells(chosen, opened, retry)
            keys, times = {cell.key for cell in every}, _seconds(opened)
            done, failed = len(keys & opened.done()), len(keys & opened.failed())
    tasks: dict[Task, list[Cell]] = defaultdict(list)
    for cell in cells:
        tasks[_task(cell)].append(cell)
    tried, problems = _trial({k: v for k, v in tasks.items() if k not in times})
    times = {**times, **tried}
    typical = sum(times.values()) / len(times) if times else 0.0
    total = sum(len(group) * times.get(task, typical) for task, group in tasks.items())
    count = _workers(workers, len(cells))
    return Plan(len(every), done, failed, len(cells), count, total / count, problems)


def _trial(tasks: Mapping[Task, Sequence[Cell]]) -> tuple[dict[Task, float], tuple[str, ...]]:
    """Seconds a cell, from one group of each task until the time is up, and the errors met."""
    times, problems, start = {}, dict[str, None](), time.monotonic()
    for task, cells in tasks.items():
        if time.monotonic() - start > TRIAL_SECONDS:
            break
        group, share = _brief(next(groups(cells)))
        began = time.perf_counter()
        error = run_group(group)[0].error
        times[task] = (time.perf_counter() - began) / len(group) / share
        problems |= {error: None} if error else {}
    return times, tuple(problems)


def _brief(group: Group, steps: int = 20) -> tuple[Group, float]:
    """The group, trained for a few steps if it counts them, and the share that these are."""
    all_steps = getattr(registry.estimator(group[0].algorithm, **dict(group[0].params)), "steps", 0)
    if not hasattr(registry.algorithm(group[0].algorithm), "fit_together") or all_steps <= steps:
        return group, 1.0
    params = tuple(sorted({**dict(group[0].params), "steps": steps}.items()))
    return tuple(replace(cell, params=params) for cell in group), steps / all_steps
