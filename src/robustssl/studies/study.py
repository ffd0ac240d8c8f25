"""A study: which methods are run on which tasks, at which t and seeds."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from robustssl import registry
from robustssl.analysis.metrics import GRID
from robustssl.cell import Cell, Task
from robustssl.errors import InputError, unknown
from robustssl.method import Method
from robustssl.records.extras import Extras
from robustssl.registry.searches import MOST, configurations
from robustssl.spec import parse
from robustssl.studies import keys
from robustssl.studies.files import SUBMITTED, file_of, read_study
from robustssl.studies.tasks import each_pair, labels_per_class

CurveName = tuple[str, Task]  # a method (its spec) on a task


class Study(BaseModel):
    """Methods x tasks, over a grid of t and several seeds: every algorithm in every environment on
    every dataset. `algorithms` are kept as they were asked for; `methods` says what they are, with
    the baselines that they name, which always come along.

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
    algorithms: keys.Names
    environments: keys.Names
    datasets: keys.Names
    labels: Annotated[keys.Counts, Field(min_length=1)] = [5]
    configurations: Annotated[int, Field(ge=1, le=MOST)] | None = None
    cross_validate: bool = False
    keep: Literal["bits"] | None = None
    total_labels: keys.Counts = []
    ts: keys.Ts = list(GRID)
    seeds: keys.Seeds = [0, 1, 2, 3, 4]
    exclude: list[keys.Pattern] = []
    parts: list["Study"] = []
    only: dict[keys.What, keys.Names] = {}

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
        return keys.first_spellings(asked, info.data.get("budget"))

    @field_validator("environments", "datasets")
    @classmethod
    def _canonical(cls, specs: list[str], info: Any) -> list[str]:
        encoded = info.data.get("encoder") is not None
        return keys.canonical_specs(info.field_name[:-1], specs, encoded)

    @cached_property
    def methods(self) -> dict[str, Method]:
        """Every method by its spec: those that are asked for, then baselines that are not."""
        if self.parts:
            return {spec: m for part in self.parts for spec, m in part.methods.items()}
        every = [*self.algorithms, *self.baselines]
        if self.configurations is None:
            described = [registry.describe(asked, self.budget) for asked in every]
        else:
            searches = (configurations(asked, self.budget, self.configurations) for asked in every)
            described = [method for search in searches for method in search]
        return {method.spec: method for method in described}

    @cached_property
    def baselines(self) -> list[str]:
        """The baselines that come along, by their shortest spelling: methods name them, and the
        study does not.
        """
        if self.parts:
            return list(dict.fromkeys(name for part in self.parts for name in part.baselines))
        return keys.unnamed_baselines(self.algorithms, self.budget)

    @field_validator("exclude")
    @classmethod
    def _canonical_exclude(cls, patterns: list[keys.Pattern], info: Any) -> list[keys.Pattern]:
        return keys.canonical_patterns(patterns, info.data.get("budget"))

    @model_validator(mode="after")
    def _one_kind_of_labels(self) -> Self:
        if self.total_labels and "labels" in self.model_fields_set:
            raise InputError("give labels (per class) or total_labels, not both")
        return self

    @property
    def extras(self) -> Extras:
        """What records of this study hold beside scores of test rows."""
        return Extras(criteria=self.cross_validate, bits=self.keep == "bits")

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
            (method, Task(environment, dataset, self._labels(number, environment, dataset)))
            for dataset in self.datasets
            for number in self.total_labels or self.labels
            for asked in self.environments
            for environment in each_pair(asked, dataset)
            for method in self.methods
            if not self._is_excluded(method, (asked, environment), dataset)
        )

    def _labels(self, number: int, environment: str, dataset: str) -> int:
        return labels_per_class(number, environment, dataset) if self.total_labels else number

    def _is_excluded(self, algorithm: str, environments: tuple[str, str], dataset: str) -> bool:
        first = registry.canonical("algorithm", self.methods[algorithm].name, self.budget)
        algorithms = (algorithm, first)  # all configurations of a method go with the first
        names = {"algorithm": algorithms, "environment": environments, "dataset": (dataset,)}
        return any(all(v in names[k] for k, v in pattern.items()) for pattern in self.exclude)


def study(source: str | Path | Mapping[str, Any] | Study) -> Study:
    """A study by name, from a YAML file, or from a mapping of the same keys."""
    if isinstance(source, Study):
        return source
    if isinstance(source, Mapping):
        return _validated(dict(source), "the study")
    document = read_study(file_of(source))
    return _validated({k: v for k, v in document.items() if k not in SUBMITTED}, str(source))


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
