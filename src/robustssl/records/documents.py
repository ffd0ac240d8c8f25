"""Documents of plain values, as JSON says them: what may stand in one, and its digest."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

DEEPEST = 20  # lists and mappings inside each other


def is_plain(value: Any, levels: int = DEEPEST) -> bool:
    """Whether JSON can say it, with lists and mappings at most so many levels deep."""
    if isinstance(value, dict | list | tuple):
        inside = value.values() if isinstance(value, dict) else value
        named = not isinstance(value, dict) or all(isinstance(name, str) for name in value)
        return levels > 0 and named and all(is_plain(part, levels - 1) for part in inside)
    return value is None or isinstance(value, str | int) or _is_finite(value)


def _is_finite(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def sha256_of(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(document).encode()).hexdigest()[:32]
