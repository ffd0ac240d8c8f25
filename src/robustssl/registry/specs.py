"""Spell specs: a name with options, `name[key=value,...]`.

The canonical form of a spec holds only options that differ from their defaults, sorted, so that one
thing has one spelling.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from robustssl.errors import InputError, unknown
from robustssl.method import Method
from robustssl.records.catalog import About, baseline_spec, shares_baseline_with
from robustssl.registry.inspection import about
from robustssl.registry.lookup import Kind, names
from robustssl.spec import NO_SPECS, parse, spell


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
    return spell(name, changed_options(kind, name, options))


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


def changed_options(kind: Kind, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
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


def _budget_of(name: str, own: str | None, budget: str | None) -> str | None:
    """The budget that an algorithm names or, if it has budgets and names none, the study's."""
    return own or (budget if about("algorithm", name).budgets is not None else None)


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
