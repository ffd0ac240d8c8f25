"""What may stand under the keys of a study, and its one spelling."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from robustssl import registry
from robustssl.analysis.metrics import check_grid
from robustssl.data import AUTO
from robustssl.errors import InputError
from robustssl.records.catalog import data_kind
from robustssl.registry.trust import UntrustedError
from robustssl.spec import parse, spell


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str | int | float) else value


def _numbered(value: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if value > 10_000:
        raise InputError(f"{value} would be that many seeds; write [{value}] for one")
    return list(range(value))


def _whole_numbers(values: list[int], least: int) -> list[int]:
    if min(values, default=least) < least:
        raise InputError(f"must be at least {least}, got {min(values)}")
    if max(values, default=least) >= 2**32:
        raise InputError(f"must be below 2^32, got {max(values)}")
    return sorted(set(values))


def _grid(ts: list[float]) -> list[float]:
    return sorted(check_grid(ts).tolist())


_FROM_0, _FROM_1 = (AfterValidator(partial(_whole_numbers, least=least)) for least in (0, 1))

What = Literal["algorithm", "environment", "dataset"]
Pattern = Annotated[dict[What, str], Field(min_length=1)]
Names = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]
Counts = Annotated[list[int], BeforeValidator(_listed), _FROM_1]
Ts = Annotated[list[float], BeforeValidator(_listed), AfterValidator(_grid)]
Seeds = Annotated[list[int], BeforeValidator(_numbered), Field(min_length=1), _FROM_0]


def first_spellings(asked: Sequence[str], budget: str | None) -> list[str]:
    """The first spelling of each method; an unknown name or option is an error."""
    first: dict[str, str] = {}
    for spec in asked:
        with suppress(UntrustedError):  # not counted: `registry.trust.Trust.refused` has it
            first.setdefault(registry.canonical("algorithm", spec, budget), spec)
    return _some(list(first.values()), asked)


def unnamed_baselines(asked: Sequence[str], budget: str | None) -> list[str]:
    """The baselines of methods that are not asked for themselves, by their shortest spelling."""
    known = {registry.canonical("algorithm", spec, budget) for spec in asked}
    specs = dict.fromkeys(registry.describe(spec, budget).baseline for spec in asked)
    return [_shortest(spec, budget) for spec in specs if spec is not None and spec not in known]


def _shortest(spec: str, budget: str | None) -> str:
    """The name of an algorithm where it means the spec, else the spec."""
    name = parse(spec)[0]
    return name if registry.canonical("algorithm", name, budget) == spec else spec


def canonical_specs(kind: registry.Kind, specs: Sequence[str], encoded: bool) -> list[str]:
    """The spelling of each environment or dataset; `encoded`: with the encoder of its data."""
    known = dict[str, None]()
    for spec in specs:
        with suppress(UntrustedError):
            found = registry.canonical(kind, spec)
            known[_with_encoder(found) if encoded else found] = None
    return _some(list(known), specs)


def canonical_patterns(
    patterns: Sequence[dict[What, str]], budget: str | None
) -> list[dict[What, str]]:
    known = []
    for pattern in patterns:
        with suppress(UntrustedError):
            known.append({k: registry.canonical(k, v, budget) for k, v in pattern.items()})
    return known


def _some(known: list[str], asked: Sequence[str]) -> list[str]:
    if not known:
        raise UntrustedError(f"{', '.join(asked)}: nothing of this is imported here; see --trust")
    return known


def _with_encoder(spec: str) -> str:
    """A spec that names its encoder; those of environments and of tables have none."""
    name, options = parse(spec)
    encoder = AUTO.get(data_kind(spec))
    takes = "encoder" not in options and name in registry.names("dataset")
    if encoder is None or not takes or "encoder" not in registry.defaults("dataset", name):
        return spec
    return spell(name, {**options, "encoder": encoder})
