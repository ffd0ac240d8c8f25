"""A study: which methods are run on which tasks, at which t and seeds."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

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

from robustssl import registry
from robustssl.analysis.metrics import GRID, check_grid
from robustssl.cell import Cell, Task
from robustssl.data import AUTO
from robustssl.errors import InputError, unknown
from robustssl.method import Method
from robustssl.records.catalog import data_kind
from robustssl.records.frame import wanted
from robustssl.records.places import shown
from robustssl.records.record import Extras
from robustssl.registry.searches import MOST, configurations
from robustssl.registry.trust import UntrustedError
from robustssl.spec import parse, spell
from robustssl.studies.named import named


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str | int | float) else value


def _seeds(value: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if value > 10_000:
        raise InputError(f"{value} would be that many seeds; write [{value}] for one")
    return list(range(value))


def _with_encoder(spec: str) -> str:
    """A spec that names its encoder; those of environments and of tables have none."""
    name, options = parse(spec)
    encoder = AUTO.get(data_kind(spec))
    takes = "encoder" not in options and name in registry.names("dataset")
    if encoder is None or not takes or "encoder" not in registry.defaults("dataset", name):
        return spec
    return spell(name, {**options, "encoder": encoder})


def _some(known: list[str], asked: list[str]) -> list[str]:
    if not known:
        raise UntrustedError(f"{', '.join(asked)}: nothing of this is imported here; see --trust")
    return known


What = Literal["algorithm", "environment", "dataset"]
Pattern = Annotated[dict[What, str], Field(min_length=1)]
Names = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]


# Keys that a submission adds to its study.
SUBMITTED = ("command", "trust", "carries", "lacks", "frozen", "cells")

CurveName = tuple[str, Task]  # a method (its spec) on a task


class Study(BaseModel):
    """Methods x tasks, over a grid of t and several seeds: every algorithm in every environment on
    every dataset. `algorithms` are kept as they were asked for; `methods` says what they are.

    `labels` is per class; `total_labels` instead is spread evenly over the classes that have any.
    `budget` is what the nets share: quick (a perceptron, 500 steps), reference, full, or the
    leaderboard's for a kind of data: table, image, text. `configurations: 16` searches: each method
    is run as it is and with 15 other settings, drawn from the space that its algorithm names.
    `exclude` leaves out what cannot be run: {algorithm: tsvm, dataset: covertype}. `parts` are
    studies, or their names, that make up this one; t, seeds and what records hold are those of the
    whole. `only` takes a part of any study: {dataset: [wine], algorithm: [fixmatch]}. `encoder:
    auto` gives images and texts that name no encoder a pretrained one: efficientnet_lite0 or
    minilm. Records hold scores; with `cross_validate: true` also those that need no test row, by
    which settings may be chosen, and with `keep: bits` which test rows are right.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    title: str = ""
    budget: str | None = None
    encoder: Literal["auto"] | None = None
    algorithms: Names
    environments: Names
    datasets: Names
    labels: Annotated[list[int], BeforeValidator(_listed), Field(min_length=1)] = [5]
    configurations: Annotated[int, Field(ge=1, le=MOST)] | None = None
    cross_validate: bool = False
    keep: Literal["bits"] | None = None
    total_labels: Annotated[list[int], BeforeValidator(_listed)] = []
    ts: Annotated[list[float], BeforeValidator(_listed)] = list(GRID)
    seeds: Annotated[list[int], BeforeValidator(_seeds), Field(min_length=1)] = [0, 1, 2, 3, 4]
    exclude: list[Pattern] = []
    parts: list["Study"] = []
    only: dict[What, Names] = {}

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, document: Any) -> Any:
        """Collect the names of all parts into the study that they make up."""
        if not isinstance(document, dict) or not document.get("parts"):
            return document
        kept = {"title", "parts", "ts", "seeds", "only", "cross_validate", "keep"}
        if more := document.keys() - kept - {"algorithms", "environments", "datasets"}:
            raise InputError(f"a study of parts has no {min(more)} of its own")
        parts = [study(part) for part in document["parts"]]
        names = {
            key: list(dict.fromkeys(name for part in parts for name in getattr(part, key)))
            for key in ("algorithms", "environments", "datasets")
        }
        return {**document, **names, "parts": parts}

    @field_validator("algorithms")
    @classmethod
    def _asked(cls, asked: list[str], info: Any) -> list[str]:
        """The first spelling of each method; an unknown name or option is an error."""
        budget = info.data.get("budget")
        first: dict[str, str] = {}
        for spec in asked:
            with suppress(UntrustedError):  # not counted: `registry.trust.Trust.refused` has it
                first.setdefault(registry.canonical("algorithm", spec, budget), spec)
        return _some(list(first.values()), asked)

    @field_validator("environments", "datasets")
    @classmethod
    def _canonical(cls, specs: list[str], info: Any) -> list[str]:
        kind, known = info.field_name[:-1], dict[str, None]()
        for spec in specs:
            with suppress(UntrustedError):
                found = registry.canonical(kind, spec)
                known[_with_encoder(found) if info.data.get("encoder") else found] = None
        return _some(list(known), specs)

    @cached_property
    def methods(self) -> dict[str, Method]:
        """Every method by its spec."""
        if self.parts:
            return {spec: m for part in self.parts for spec, m in part.methods.items()}
        if self.configurations is None:
            described = [registry.describe(asked, self.budget) for asked in self.algorithms]
        else:
            searches = (
                configurations(asked, self.budget, self.configurations) for asked in self.algorithms
            )
            described = [method for search in searches for method in search]
        return {method.spec: method for method in described}

    @field_validator("labels", "total_labels", "seeds")
    @classmethod
    def _counts(cls, values: list[int], info: Any) -> list[int]:
        least = 0 if info.field_name == "seeds" else 1
        if min(values, default=1) < least:
            raise InputError(f"must be at least {least}, got {min(values)}")
        if max(values, default=1) >= 2**32:
            raise InputError(f"must be below 2^32, got {max(values)}")
        return sorted(set(values))

    @field_validator("exclude")
    @classmethod
    def _canonical_exclude(cls, patterns: list[dict[Any, str]], info: Any) -> list[dict[Any, str]]:
        budget, known = info.data.get("budget"), []
        for pattern in patterns:
            with suppress(UntrustedError):
                spelt = {k: registry.canonical(k, spec, budget) for k, spec in pattern.items()}
                known.append(spelt)
        return known

    @model_validator(mode="after")
    def _one_kind_of_labels(self) -> Self:
        if self.total_labels and "labels" in self.model_fields_set:
            raise InputError("give labels (per class) or total_labels, not both")
        return self

    @property
    def extras(self) -> Extras:
        """What records of this study hold beside scores of test rows."""
        return Extras(criteria=self.cross_validate, bits=self.keep == "bits")

    @field_validator("ts")
    @classmethod
    def _grid(cls, ts: list[float]) -> list[float]:
        return sorted(check_grid(ts).tolist())

    def cells(self) -> list[Cell]:
        """All cells, seed by seed, so that a run cut short has whole curves of the first seeds."""
        curves = [(*parse(method), task) for method, task in self.curves()]
        known = [(name, tuple(sorted(options.items())), task) for name, options, task in curves]
        return [
            Cell(name, task.environment, task.dataset, cast(int, task.labels), t, seed, params)
            for seed in self.seeds
            for name, params, task in known
            for t in self.ts
        ]

    def curves(self) -> list[CurveName]:
        """The curves of the study: its cells without t and seed."""
        found = (curve for part in self.parts for curve in part.curves())
        every = found if self.parts else self._combined()
        return list(dict.fromkeys(curve for curve in every if self._is_asked(curve)))

    def _is_asked(self, curve: CurveName) -> bool:
        method, task = curve
        specs = {"algorithm": method, "environment": task.environment, "dataset": task.dataset}
        known = {what: {spec, parse(spec)[0]} for what, spec in specs.items()}
        known["algorithm"].add(self.methods[method].name)
        return all(known[what] & {*asked} for what, asked in self.only.items())

    def _combined(self) -> Iterator[CurveName]:
        return (
            (method, Task(environment, dataset, self._per_class(labels, environment, dataset)))
            for dataset in self.datasets
            for labels in self.total_labels or self.labels
            for asked in self.environments
            for environment in each_pair(asked, dataset)
            for method in self.methods
            if not self._is_excluded(method, (asked, environment), dataset)
        )

    def _is_excluded(self, algorithm: str, environments: tuple[str, str], dataset: str) -> bool:
        first = registry.canonical("algorithm", self.methods[algorithm].name, self.budget)
        algorithms = (algorithm, first)  # all configurations of a method go with the first
        names = {"algorithm": algorithms, "environment": environments, "dataset": (dataset,)}
        return any(all(v in names[k] for k, v in pattern.items()) for pattern in self.exclude)

    def _per_class(self, labels: int, environment: str, dataset: str) -> int:
        if not self.total_labels:
            return labels
        total, found = labels, registry.environment(environment)
        known = found.labeled_classes(len(found.classes(registry.dataset(dataset))))
        if total % known:
            raise InputError(
                f"{total} labels cannot be spread evenly over the {known} classes of {dataset} "
                f"that have labels in the environment {environment}"
            )
        return int(total // known)


def each_pair(environment: str, dataset: str) -> list[str]:
    """The environments that `each` stands for in `distribution[source=each,target=each]`."""
    name, options = parse(environment)
    if "each" not in options.values():
        return [environment]
    if not hasattr(found := registry.environment(environment), "pairs"):
        raise InputError(f"`each` stands for domains, which {name} does not have")
    pairs = found.pairs(registry.dataset(dataset))
    return [spell(name, {**options, **pair}) for pair in pairs]


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
    path = named().get(str(source), Path(source))
    if not _is_file(path):
        if path.suffix in (".yaml", ".yml"):
            raise InputError(f"there is no study file {path}")
        raise unknown("study", shown(source), named())
    document = read_study(path)
    return _validated({k: v for k, v in document.items() if k not in SUBMITTED}, str(source))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def read_study(path: Path) -> dict[str, Any]:
    """The keys and values of a study's file."""
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_StrictLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not YAML: {error}") from error
    if not isinstance(document, dict):
        raise InputError(f"{path} must hold keys and values, such as `datasets: [iris]`")
    return document


def with_algorithms(source: str | Path | Mapping[str, Any] | Study, more: Iterable[str]) -> Study:
    """A study with more algorithms, and the baselines that they name."""
    chosen, names = study(source), list(more)
    if not names:
        return chosen
    given = {name: getattr(chosen, name) for name in chosen.model_fields_set}
    if chosen.parts:
        parts = [with_algorithms(part, names) for part in chosen.parts]
        return _validated({**given, "parts": parts}, "the study")
    baselines = filter(None, (_baseline(name, chosen.budget) for name in names))
    every = [*chosen.algorithms, *baselines, *names]
    return _validated({**given, "algorithms": every}, "the study")


def _baseline(asked: str, budget: str | None) -> str | None:
    """The baseline of a method that is asked for, by the shortest spelling of its spec."""
    spec = registry.describe(asked, budget).baseline
    if spec is None:
        return None
    short = parse(spec)[0]
    return short if registry.canonical("algorithm", short, budget) == spec else spec


def narrowed(source: str | Path | Mapping[str, Any] | Study, words: Iterable[str]) -> Study:
    """A study of which only some curves count, by words such as dataset=wine; those of one kind
    are alternatives.
    """
    chosen = study(source)
    part = chosen.model_copy(update={"only": {**chosen.only, **wanted(words)}})
    if not part.curves():
        raise InputError(f"the study has nothing that is {', '.join(words)}")
    return part


def _validated(document: dict[str, Any], where: str) -> Study:
    try:
        return Study(**document)
    except ValidationError as error:
        reasons = [_reason(item) for item in error.errors()]
        raise InputError(f"{where}: " + "; ".join(reasons)) from error
    except TypeError as error:
        raise InputError(f"{where}: keys must be words ({error})") from error
    except RecursionError as error:
        raise InputError(f"{where}: its parts are nested too deeply") from error


def _reason(item: Any) -> str:
    place = ".".join(map(str, item["loc"]))
    if item["type"] == "extra_forbidden":
        return str(unknown("key", place, Study.model_fields))
    if item["type"] == "missing":
        return f"the key {place!r} is missing"
    if item["type"] == "value_error":
        return f"{place}: {item['ctx']['error']}".removeprefix(": ")
    return f"{place}: {item['msg']}"
