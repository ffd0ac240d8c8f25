"""How things are named with their options: `name[key=value,...]`, read and written."""

import json
import re
from collections.abc import Mapping
from typing import Any

from robustssl.errors import InputError

LONGEST = 4096  # characters of a spec
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
