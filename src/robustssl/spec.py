"""How things are named with their options: `name[key=value,...]`, read and written; and which
values an option may have, said by the annotation of its parameter.
"""

import inspect
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from robustssl.errors import InputError, unknown

LONGEST = 4096  # characters of a spec
NO_SPECS = ("auto", "near", "far")  # values of options that otherwise are specs
_SPEC = re.compile(r"(?P<name>[^\s\[\],=]+)(?:\[(?P<options>.*)\])?", re.DOTALL)
_COMMA = re.compile(r",(?![^\[]*\])")  # not one inside of brackets


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """`name[a=1,b=x]` as ("name", {"a": 1, "b": "x"}); a value may be a spec itself."""
    if not isinstance(spec, str) or len(spec) > LONGEST:
        raise InputError(f"a name with its options is a text of at most {LONGEST} characters")
    match = _SPEC.fullmatch(spec.strip())
    if match is None or not _is_nested(match["options"] or ""):
        raise InputError(f"cannot read {spec!r}; write name or name[key=value,...]")
    options: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in _COMMA.split(match["options"] or ""))):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier() or key in options:
            raise InputError(f"cannot read {part!r} in {spec!r}; write name[key=value,...]")
        options[key] = _value(value.strip())
    return match["name"], options


def _is_nested(options: str) -> bool:
    """Whether brackets, if any, are one deep and closed."""
    return re.fullmatch(r"[^\[\]]*(\[[^\[\]]*\][^\[\]]*)*", options) is not None


_WORDS = {"true": True, "false": False, "null": None, "None": None, "True": True, "False": False}


def _value(text: str) -> Any:
    """A number, true, false, null, or else the text itself, such as 007."""
    if re.fullmatch(r"-?[0-9]+", text) and str(int(text)) != text:
        return text
    for read in (int, float, _WORDS.__getitem__):
        try:
            return read(text)
        except (ValueError, KeyError):
            pass
    return text


def spell(name: str, options: Mapping[str, Any]) -> str:
    """The canonical spec of a name and its options."""

    def write(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    inside = ",".join(f"{key}={write(options[key])}" for key in sorted(options))
    return f"{name}[{inside}]" if inside else name


def thing_of(kind: str, spec: str) -> str:
    """The name of what has a version in a spec: of a dataset with an encoder `dataset+encoder`, of
    a method in front of another one `method+base`, of an environment that takes rows from another
    dataset `environment/dataset`.
    """
    name, options = parse(spec)
    if kind == "environment":
        other = options.get("unknown")
        return name if other in (None, *NO_SPECS) else f"{name}/{parse(str(other))[0]}"
    inner = options.get({"dataset": "encoder", "algorithm": "base"}.get(kind, ""))
    return name if inner is None else f"{name}+{thing_of(kind, str(inner))}"


_BOUNDS = {
    "least": ("at least", operator.ge),
    "above": ("above", operator.gt),
    "most": ("at most", operator.le),
    "below": ("below", operator.lt),
}


@dataclass(frozen=True, kw_only=True)
class Range:
    """The numbers that an option may be: `threshold: Annotated[float, Range(least=0, below=1)]`."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None

    def _bounds(self) -> Iterator[tuple[str, Callable[[Any, Any], bool], float]]:
        for name, (words, holds) in _BOUNDS.items():
            if (bound := getattr(self, name)) is not None:
                yield words, holds, bound

    def __contains__(self, value: Any) -> bool:
        return all(holds(value, bound) for _, holds, bound in self._bounds())

    def __str__(self) -> str:
        return " and ".join(f"{words} {bound:g}" for words, _, bound in self._bounds())


Count = Annotated[int, Range(least=1)]
Positive = Annotated[float, Range(above=0)]
NotNegative = Annotated[float, Range(least=0)]
Share = Annotated[float, Range(least=0, most=1)]
Decay = Annotated[float, Range(least=0, below=1)]  # of an average: the weight of what it was


def check_options(thing: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Refuse a value that the annotation of its parameter rules out: a number that is not in the
    `Range`, a word that is not in the `Literal`. Other annotations allow everything.
    """
    for name, parameter in inspect.signature(thing).parameters.items():
        if name in values:
            _check_option(name, values[name], parameter.annotation)


def _check_option(name: str, value: Any, annotation: Any) -> None:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType) and not (value is None and NoneType in parts):
        for part in parts:
            _check_option(name, value, part)
    elif origin is Literal and value not in parts:
        raise unknown(name, str(value), parts)
    elif origin is Annotated and isinstance(allowed := parts[1], Range):
        whole = parts[0] is int
        if not isinstance(value, Integral if whole else Real) or value not in allowed:
            words = f"a whole number of {allowed}" if whole else f"{allowed}"
            got = f"{value:g}" if isinstance(value, Real) else repr(value)
            raise InputError(f"{name} must be {words}, got {got}")
