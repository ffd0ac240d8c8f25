"""What is known of a thing by its name: its options, version, presets and so on."""

import inspect
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from robustssl.errors import InputError
from robustssl.method import Preset, Space
from robustssl.records.catalog import USUAL, About, entry
from robustssl.registry.lookup import Kind, built_in, find


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
        owner=getattr(home, "owner", None) if kind == "dataset" else None,
        licence=getattr(home, "licence", None) if kind == "dataset" else None,
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
