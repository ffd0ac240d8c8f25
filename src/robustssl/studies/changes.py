"""Studies made from others: with more algorithms, or of fewer curves."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from robustssl.errors import InputError
from robustssl.records.frame import wanted
from robustssl.studies.study import Study, study


def with_algorithms(source: str | Path | Mapping[str, Any] | Study, more: Iterable[str]) -> Study:
    """A study with more algorithms."""
    chosen, names = study(source), list(more)
    if not names:
        return chosen
    given = {name: getattr(chosen, name) for name in chosen.model_fields_set}
    if chosen.parts:
        parts = [with_algorithms(part, names) for part in chosen.parts]
        return study({**given, "parts": parts})
    return study({**given, "algorithms": [*chosen.algorithms, *names]})


def narrowed(source: str | Path | Mapping[str, Any] | Study, words: Iterable[str]) -> Study:
    """A study of which only some curves count, by words such as dataset=wine; those of one kind
    are alternatives.
    """
    chosen = study(source)
    part = chosen.model_copy(update={"only": {**chosen.only, **wanted(words)}})
    if not part.curves():
        raise InputError(f"the study has nothing that is {', '.join(words)}")
    return part
