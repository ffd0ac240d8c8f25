"""Things by their names: algorithms, environments, datasets, encoders and nets."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, cast, get_args

from robustssl.cell import Cell, Versions, cell_key
from robustssl.data import Dataset
from robustssl.errors import InputError, unknown
from robustssl.records.catalog import composed_version, parts_of
from robustssl.registry.inspection import about as about
from robustssl.registry.inspection import defaults as defaults
from robustssl.registry.inspection import inspected as inspected
from robustssl.registry.lookup import EXTRAS as EXTRAS
from robustssl.registry.lookup import Kind as Kind
from robustssl.registry.lookup import built_in as built_in
from robustssl.registry.lookup import find as find
from robustssl.registry.lookup import names as names
from robustssl.registry.specs import budget_values as budget_values
from robustssl.registry.specs import canonical as canonical
from robustssl.registry.specs import changed_options
from robustssl.registry.specs import describe as describe
from robustssl.registry.specs import matched_baseline as matched_baseline
from robustssl.registry.specs import preset_values as preset_values
from robustssl.spec import parse, thing_of


def algorithm(name: str) -> type:
    """The class of an algorithm: a scikit-learn classifier that takes -1 for unlabeled."""
    found: type = find("algorithm", name)
    return found


def estimator(
    name: str, preset: str | None = None, budget: str | None = None, **params: Any
) -> Any:
    """A ready estimator: the defaults, then the budget, the preset, the params; `name` may be a
    spec.
    """
    name, own = parse(name)
    preset, budget = own.pop("preset", preset), own.pop("budget", budget)
    chosen = {**budget_values(name, budget), **preset_values(name, preset), **own, **params}
    return algorithm(name)(**changed_options("algorithm", name, chosen))


def net(spec: str) -> Callable[..., Any]:
    """A function that makes a net, given the shape of a row and the number of classes."""
    name, options = parse(spec)
    for key in about("net", name).required:
        if key not in ("shape", "classes", *options):
            raise InputError(f"{name} needs {key}: write {name}[{key}=...]")
    return partial(find("net", name), **changed_options("net", name, options))


def environment(spec: str) -> Any:
    """A ready environment."""
    name, options = parse(spec)
    return find("environment", name)(**changed_options("environment", name, options))


@lru_cache(maxsize=8)
def encoder(spec: str) -> Any:
    """A ready encoder."""
    name, options = parse(spec)
    return find("encoder", name)(**changed_options("encoder", name, options))


@lru_cache(maxsize=4)
def dataset(spec: str) -> Dataset:
    """Load a dataset, or return the same arrays if it was loaded recently."""
    name, options = parse(spec)
    data = find("dataset", name)(**changed_options("dataset", name, options))
    if not isinstance(data, Dataset):
        raise InputError(f"{name} gave a {type(data).__name__}, not a robustssl.Dataset")
    return data


def version(kind: Kind, name: str) -> int:
    """The version of the thing named; raised whenever its numbers change. That of a thing made up
    of others, such as a dataset with encoders, `dataset+encoder`, is of all of them.
    """
    if kind in ("encoder", "net"):
        return about(kind, name).version
    parts = parts_of(kind, name)
    return composed_version(*(about(cast(Kind, part), inner).version for part, inner in parts))


def versions(cell: Cell) -> Versions:
    """The present versions of a cell's algorithm, environment and dataset."""
    return (
        version("algorithm", thing_of("algorithm", cell.spec)),
        version("environment", thing_of("environment", cell.environment)),
        version("dataset", thing_of("dataset", cell.dataset)),
    )


def key(cell: Cell) -> str:
    """The present key of a cell."""
    return cell_key(cell, versions(cell))


def catalog(kind: Kind) -> list[dict[str, Any]]:
    """List everything of a kind, with what a user wants to know to choose."""
    if kind not in get_args(Kind):
        raise unknown("kind", kind, get_args(Kind))
    every = [about(kind, name) for name in names(kind)]
    if kind != "algorithm":
        return [{"name": found.name, "summary": found.summary} for found in every]
    return [
        {
            "name": found.name,
            "summary": found.summary,
            "baseline": matched_baseline(found.name),
            "targets": dict(found.targets),
            "presets": {which: preset._asdict() for which, preset in found.presets.items()},
            "departures": found.departures,
            "options": dict(found.options),
            "version": found.version,
        }
        for found in every
    ]
