"""Look up things by name: built-in ones by their file names, others as `module:object`.

A spec is a name with options, `name[key=value,...]`. Its canonical form holds only options that
differ from their defaults, sorted, so that one thing has one spelling.
"""

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial
from importlib import metadata
from typing import Any, Literal, cast, get_args

from robustssl.cell import Cell, Versions, cell_key
from robustssl.data import Dataset
from robustssl.errors import InputError, unknown
from robustssl.method import Method, Preset, Space
from robustssl.records.catalog import (
    USUAL,
    About,
    baseline_spec,
    composed_version,
    entry,
    parts_of,
    shares_baseline_with,
)
from robustssl.registry.trust import load_own
from robustssl.spec import NO_SPECS, parse, spell, thing_of

Kind = Literal["algorithm", "environment", "dataset", "encoder", "net"]

EXTRAS = {"torch": "deep", "xgboost": "boosting"}  # optional packages: the extra of each


@cache
def names(kind: Kind) -> tuple[str, ...]:
    """Every name of a kind that comes with robustssl or with a package that is installed."""
    return tuple(sorted({*built_in(kind), *_entry_points(kind)}))


@cache
def built_in(kind: Kind) -> frozenset[str]:
    """The names that come with robustssl: those of the files of the folder."""
    package = importlib.import_module(f"robustssl.{kind}s")
    return frozenset(m.name for m in pkgutil.iter_modules(package.__path__) if m.name[0] != "_")


@cache
def _entry_points(kind: Kind) -> dict[str, str]:
    """What installed packages offer, as `module:object`, under the group `robustssl.algorithms`
    and so on.
    """
    return {point.name: point.value for point in metadata.entry_points(group=f"robustssl.{kind}s")}


@cache
def find(kind: Kind, name: str) -> Any:
    """The class (algorithm, environment) or the function (a dataset's `load`) behind a name."""
    if kind == "environment" and "+" in name:
        return _composed(*name.split("+"))
    if kind == "encoder" and "+" in name:
        return importlib.import_module("robustssl.encoders").joined(name.split("+"))
    if ":" in name:
        return load_own(kind, name)
    if name not in names(kind):
        raise unknown(kind, name, names(kind))
    if name not in built_in(kind):
        return load_own(kind, _entry_points(kind)[name], installed=True)
    try:
        module_ = importlib.import_module(f"robustssl.{kind}s.{name}")
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        needed = f"{error.name}: pip install 'robustssl[{EXTRAS[error.name]}]'"
        raise InputError(f"{name} needs {needed}") from error
    if kind == "dataset":
        return module_.load
    own = [
        value
        for key, value in vars(module_).items()
        if inspect.isclass(value) and value.__module__ == module_.__name__ and key[0] != "_"
    ]
    if len(own) != 1:
        raise InputError(f"{module_.__name__} must define exactly one public class")
    return own[0]


def _composed(first: str, *others: str) -> Any:
    """`first+second`: the first chooses the inconsistent rows, the second degrades exactly them."""
    chooser, spoilers = find("environment", first), [find("environment", name) for name in others]
    able = "divide" in vars(chooser) and "seen" not in vars(chooser)
    if not able or len(spoilers) != 1 or "degrade" not in vars(spoilers[0]):
        raise InputError(
            f"cannot compose {'+'.join([first, *others])!r}: it takes an environment that chooses "
            "rows and one that degrades them, such as label+feature"
        )
    body = {
        "__doc__": f"Inconsistent rows by {first}, degraded by {others[0]}.",
        "degrade": spoilers[0].degrade,
        "version": composed_version(chooser.version, spoilers[0].version),
    }
    return type(f"{chooser.__name__}{spoilers[0].__name__}", (chooser,), body)


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


@cache
def about(kind: Kind, name: str) -> About:
    """What is known of a thing: from the catalog if it is built in, else from its code."""
    known = entry(kind, name) if name in built_in(kind) else None
    return known or inspected(kind, name)


def inspected(kind: Kind, name: str) -> About:
    """What the code of a thing says of it, by importing it."""
    thing = find(kind, name)
    module = inspect.getmodule(thing)
    home = module if kind == "dataset" else thing
    said = [inspect.getdoc(part) or "" for part in (module, thing)]
    words = said[1] if kind != "algorithm" else said[0]
    parameters = {
        key: parameter
        for key, parameter in inspect.signature(thing).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    required = tuple(k for k, p in parameters.items() if p.default is p.empty)
    bases = thing.__mro__[1:] if inspect.isclass(thing) else ()
    shared = [base for base in bases if parameters.keys() & vars(base).get("__annotations__", {})]
    return About(
        name,
        version=int(getattr(home, "version", 1)),
        summary=" ".join(words.partition("\n\n")[0].split()),
        text="\n\n".join(dict.fromkeys(filter(None, said))),
        shared_text="\n\n".join(filter(None, map(inspect.getdoc, shared))),
        options={k: p.default for k, p in parameters.items() if k not in required},
        required=required,
        texts=tuple(k for k, p in parameters.items() if p.annotation in (str, str | None)),
        presets=_presets(name, getattr(thing, "presets", {})),
        budgets=getattr(thing, "budgets", None),
        space=_space(thing, parameters),
        nested=_nested(kind, thing, parameters),
        baseline=getattr(thing, "baseline", None),
        targets=_targets(getattr(thing, "targets", None) or {}),
        departures=departures[1] if (departures := _DEPARTURES.search(said[1])) else None,
        family=getattr(thing, "family", "statistical"),
        supervised=bool(getattr(thing, "supervised", False)),
        data=str(getattr(home, "kind", "tabular")) if kind in ("dataset", "encoder") else None,
        score=str(getattr(thing, "score", USUAL)) if kind == "environment" else USUAL,
    )


_DEPARTURES = re.compile(r"^Departures: (.+?)\.?\s*\Z", re.MULTILINE | re.DOTALL)


def _presets(name: str, presets: Mapping[str, Any]) -> dict[str, Preset]:
    """The presets of an algorithm, each of which must say where its settings come from."""
    for which, preset in presets.items():
        if not isinstance(preset, Preset) or not preset.source:
            raise InputError(
                f"preset {which} of {name} does not say where its settings come from: write "
                "robustssl.method.Preset(source, options)"
            )
    return dict(presets)


def _targets(targets: Iterable[str]) -> dict[str, str]:
    """What an algorithm claims to answer, and where it is claimed."""
    places = targets if isinstance(targets, Mapping) else {}
    return {kind: places.get(kind, "unknown") for kind in sorted(targets)}


def _space(thing: Any, options: Iterable[str]) -> Space:
    """What a search sets: what an algorithm says, and what it shares with others."""
    spaces = [vars(base).get("space", {}) for base in reversed(getattr(thing, "__mro__", ()))]
    every = {option: values for space in spaces for option, values in space.items()}
    return {option: values for option, values in every.items() if option in options}


def _nested(kind: Kind, thing: Any, parameters: Mapping[str, Any]) -> Mapping[str, str]:
    """The options whose values are specs, and of what."""
    if kind == "dataset":
        return {"encoder": "encoder"} if "encoder" in parameters else {}
    nested: Mapping[str, str] = getattr(thing, "nested", {})
    return nested


def defaults(kind: Kind, name: str) -> dict[str, Any]:
    """The options that need not be given, and their defaults."""
    return dict(about(kind, name).options)


def _options(kind: Kind, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from the defaults, or the reason why one is refused."""
    known = about(kind, name)
    for key in options:
        if key not in known.options and key not in known.required:
            raise unknown(f"option of {name}", key, [*known.options, *known.required])
    typed = {key: _typed(value, key, known) for key, value in options.items()}
    return {k: v for k, v in typed.items() if k in known.required or v != known.options[k]}


def _typed(value: Any, key: str, known: About) -> Any:
    """10 as 10.0 where the default is a float, 1e2 as 100 where it is an integer, and 2019 as a
    text where the option takes one.
    """
    default = known.options.get(key)
    if type(value) is int and type(default) is float:
        return float(value)
    if type(value) is float and type(default) is int and value.is_integer():
        return int(value)
    if type(value) in (int, float) and key in known.texts:
        return json.dumps(value)
    return value


def canonical(kind: Kind, spec: str, budget: str | None = None) -> str:
    """The one spelling of a spec; an unknown name or option is an error.

    An algorithm's `preset` and `budget` are resolved into the values they stand for; the budget
    given is that of algorithms which have budgets and name none.
    """
    name, options = parse(spec)
    if kind == "encoder":
        name = "+".join(sorted(name.split("+")))  # the order of several does not matter
    if kind == "algorithm":
        preset, own = options.pop("preset", None), options.pop("budget", None)
        values = budget_values(name, _budget_of(name, own, budget))
        options = {**values, **preset_values(name, preset), **options}
    for key, inner in about(kind, name).nested.items():
        if isinstance(options.get(key), str) and options[key] not in NO_SPECS:
            options[key] = canonical(cast(Kind, inner), options[key])
            _check_kind(about(kind, name), inner, options[key])
    return spell(name, _options(kind, name, options))


def _check_kind(known: About, inner: str, spec: str) -> None:
    """Refuse the encoder of another kind of data than a dataset's."""
    if inner != "encoder" or known.data is None:
        return
    encoded = about("encoder", parse(spec)[0]).data
    if known.data in ("image", "text") and encoded != known.data:
        able = [name for name in names("encoder") if about("encoder", name).data == known.data]
        raise InputError(
            f"{known.name} holds data of the kind {known.data}, and {spec} encodes those of the "
            f"kind {encoded}; there are {', '.join(able)}"
        )


def _budget_of(name: str, own: str | None, budget: str | None) -> str | None:
    """The budget that an algorithm names or, if it has budgets and names none, the study's."""
    return own or (budget if about("algorithm", name).budgets is not None else None)


def describe(asked: str, budget: str | None = None) -> Method:
    """Describe the method that a study asks for, with the study's budget."""
    name, options = parse(asked)
    known, spec = about("algorithm", name), canonical("algorithm", asked, budget)
    own = options.pop("budget", None)
    return Method(
        name=spell(name, options),
        spec=spec,
        budget=_budget_of(name, own, budget),
        family=known.family,
        supervised=known.supervised,
        baseline=matched_baseline(spec),
    )


def algorithm(name: str) -> type:
    """The class of an algorithm: a scikit-learn classifier that takes -1 for unlabeled."""
    found: type = find("algorithm", name)
    return found


def matched_baseline(spec: str) -> str | None:
    """The baseline that an algorithm names, with the options they share, as a spec; None for one
    that names none.
    """
    known = about("algorithm", parse(spec)[0])
    if known.baseline is None:
        return None
    if (base := shares_baseline_with(spec, known)) is not None:
        return matched_baseline(base)
    return baseline_spec(spec, about("algorithm", known.baseline))


def preset_values(name: str, which: str | None) -> dict[str, Any]:
    if which is None:
        return {}
    presets = about("algorithm", name).presets
    if which not in presets:
        raise unknown(f"preset of {name}", str(which), presets)
    return dict(presets[which].options)


def budget_values(name: str, which: str | None) -> dict[str, Any]:
    """What an algorithm shares with others in a study, such as the net and the steps."""
    if which is None:
        return {}
    budgets = about("algorithm", name).budgets
    if budgets is None:
        raise InputError(f"{name} has no budgets: it trains until it is done")
    if which not in budgets:
        raise unknown(f"budget of {name}", str(which), budgets)
    return dict(budgets[which])


def estimator(
    name: str, preset: str | None = None, budget: str | None = None, **params: Any
) -> Any:
    """A ready estimator: the defaults, then the budget, the preset, the params; `name` may be a
    spec.
    """
    name, own = parse(name)
    preset, budget = own.pop("preset", preset), own.pop("budget", budget)
    chosen = {**budget_values(name, budget), **preset_values(name, preset), **own, **params}
    return algorithm(name)(**_options("algorithm", name, chosen))


def net(spec: str) -> Callable[..., Any]:
    """A function that makes a net, given the shape of a row and the number of classes."""
    name, options = parse(spec)
    for key in about("net", name).required:
        if key not in ("shape", "classes", *options):
            raise InputError(f"{name} needs {key}: write {name}[{key}=...]")
    return partial(find("net", name), **_options("net", name, options))


def environment(spec: str) -> Any:
    """A ready environment."""
    name, options = parse(spec)
    return find("environment", name)(**_options("environment", name, options))


@lru_cache(maxsize=8)
def encoder(spec: str) -> Any:
    """A ready encoder."""
    name, options = parse(spec)
    return find("encoder", name)(**_options("encoder", name, options))


@lru_cache(maxsize=4)
def dataset(spec: str) -> Dataset:
    """Load a dataset, or return the same arrays if it was loaded recently."""
    name, options = parse(spec)
    data = find("dataset", name)(**_options("dataset", name, options))
    if not isinstance(data, Dataset):
        raise InputError(f"{name} gave a {type(data).__name__}, not a robustssl.Dataset")
    return data


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
