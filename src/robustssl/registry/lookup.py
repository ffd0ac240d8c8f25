"""Look up things by name: built-in ones by their file names, others as `module:object`."""

import importlib
import inspect
import pkgutil
from functools import cache
from importlib import metadata
from typing import Any, Literal

from robustssl.errors import InputError, unknown
from robustssl.records.catalog import composed_version
from robustssl.registry.trust import load_own

Kind = Literal["algorithm", "environment", "dataset", "encoder", "net"]

EXTRAS = {"torch": "deep", "xgboost": "boosting"}  # optional packages: the extra of each


@cache
def names(kind: Kind) -> tuple[str, ...]:
    """Every name of a kind that comes with robustssl or with a package that is installed."""
    return tuple(sorted({*built_in(kind), *entry_points(kind)}))


@cache
def built_in(kind: Kind) -> frozenset[str]:
    """The names that come with robustssl: those of the files of the folder."""
    package = importlib.import_module(f"robustssl.{kind}s")
    return frozenset(m.name for m in pkgutil.iter_modules(package.__path__) if m.name[0] != "_")


@cache
def entry_points(kind: Kind) -> dict[str, str]:
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
        return importlib.import_module("robustssl.encoders._joined").joined(name.split("+"))
    if ":" in name:
        return load_own(kind, name)
    if name not in names(kind):
        raise unknown(kind, name, names(kind))
    if name not in built_in(kind):
        return load_own(kind, entry_points(kind)[name], installed=True)
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
