"""Things of a user's own, named `module:object`: which modules may be imported, and which objects
may be called.
"""

import importlib
import inspect
import sys
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from robustssl.data import Dataset
from robustssl.errors import InputError


class UntrustedError(InputError):
    """A file names a module that may not be imported here."""


@dataclass(frozen=True)
class Trust:
    """The modules that may be imported, and the names that were refused so far."""

    modules: frozenset[str]
    refused: dict[str, None] = field(default_factory=dict)

    def admits(self, module: str) -> bool:
        parts = module.split(".")
        return any(".".join(parts[: n + 1]) in self.modules for n in range(len(parts)))


# None: every module, since the person who runs a study asks for its code.
_trust: ContextVar[Trust | None] = ContextVar("trust", default=None)


@contextmanager
def trusting(modules: Iterable[str] = ()) -> Iterator[Trust]:
    """Inside, no module is imported because a file names it, but for these (and those that are
    trusted around it). For commands that only look.
    """
    around = _trust.get()
    known, refused = (frozenset(), {}) if around is None else (around.modules, around.refused)
    trust = Trust(known | frozenset(modules), refused)
    token = _trust.set(trust)
    try:
        yield trust
    finally:
        _trust.reset(token)


def module_of(name: str) -> str:
    """The module of `module:object`."""
    return name.partition(":")[0]


def imported(name: str, kind: str = "object", installed: bool = False) -> Any:
    """Import the object that `module:object` names. What an `installed` package offers is trusted
    everywhere.
    """
    module, _, attribute = name.partition(":")
    trust = _trust.get()
    if not installed and trust is not None and not trust.admits(module):
        trust.refused[name] = None
        raise UntrustedError(f"{name} is not imported here: --trust {module} would run its code")
    if module == "__main__":
        raise InputError(f"put {attribute} into a module of its own: workers cannot see {name!r}")
    if module.partition(".")[0] in sys.stdlib_module_names:
        raise InputError(f"{name!r} is of Python's own library, which holds no {kind}")
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"cannot load the {kind} {name!r}: {reason}") from error


def load_own(kind: str, name: str, installed: bool = False) -> Any:
    """Import `module:object` and refuse it, before it is called, if it is not of the kind asked
    for.
    """
    found = imported(name, kind, installed)
    if (reason := _REASONS[kind](found)) is not None:
        raise InputError(f"{name!r} is no {kind}: {reason}")
    return found


def _no_algorithm(found: Any) -> str | None:
    if not inspect.isclass(found):
        return "it is not a class"
    lacking = [method for method in ("fit", "predict") if not hasattr(found, method)]
    return f"it has no {' and no '.join(lacking)}" if lacking else None


def _no_environment(found: Any) -> str | None:
    environment = importlib.import_module("robustssl.environments").Environment
    is_one = inspect.isclass(found) and issubclass(found, environment)
    return None if is_one else "it is not a subclass of robustssl.environments.Environment"


def _no_encoder(found: Any) -> str | None:
    encoder = importlib.import_module("robustssl.encoders").Encoder
    is_one = inspect.isclass(found) and issubclass(found, encoder)
    return None if is_one else "it is not a subclass of robustssl.encoders.Pretrained"


def _no_net(found: Any) -> str | None:
    module = getattr(sys.modules.get("torch.nn"), "Module", None)
    is_one = inspect.isclass(found) and module is not None and issubclass(found, module)
    return None if is_one else "it is not a subclass of torch.nn.Module"


def _no_dataset(found: Any) -> str | None:
    """A function that loads a dataset says so: what merely loads something is never called."""
    try:
        says = typing.get_type_hints(found).get("return") if inspect.isfunction(found) else None
    except Exception:  # a type of its signature that cannot be found
        says = None
    if inspect.isclass(says) and issubclass(says, Dataset):
        return None
    return "it is not a function that says it returns one; write `-> robustssl.Dataset`"


_REASONS: dict[str, Callable[[Any], str | None]] = {
    "algorithm": _no_algorithm,
    "environment": _no_environment,
    "encoder": _no_encoder,
    "net": _no_net,
    "dataset": _no_dataset,
}
