"""Studies made from others: with more algorithms, or of fewer curves."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from robustssl import registry
from robustssl.errors import InputError
from robustssl.records.frame import wanted
from robustssl.spec import parse
from robustssl.studies.study import Study, study


def with_algorithms(source: str | Path | Mapping[str, Any] | Study, more: Iterable[str]) -> Study:
    """A study with more algorithms, and the baselines that they name."""
    chosen, names = study(source), list(more)
    if not names:
        return chosen
    given = {name: getattr(chosen, name) for name in chosen.model_fields_set}
    if chosen.parts:
        parts = [with_algorithms(part, names) for part in chosen.parts]
        return study({**given, "parts": parts})
    baselines = filter(None, (_baseline(name, chosen.budget) for name in names))
    every = [*chosen.algorithms, *baselines, *names]
    return study({**given, "algorithms": every})


def _baseline(asked: str, budget: str | None) -> str | None:
    """The baseline of a method that is asked for, by the shortest spelling of its spec."""
    spec = registry.describe(asked, budget).baseline
    if spec is None:
        return None
    short = parse(spec)[0]
    return short if registry.canonical("algorithm", short, budget) == spec else spec


def narrowed(source: str | Path | Mapping[str, Any] | Study, words: Iterable[str]) -> Study:
    """A study of which only some curves count, by words such as dataset=wine; those of one kind
    are alternatives.
    """
    chosen = study(source)
    part = chosen.model_copy(update={"only": {**chosen.only, **wanted(words)}})
    if not part.curves():
        raise InputError(f"the study has nothing that is {', '.join(words)}")
    return part
