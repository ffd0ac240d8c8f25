"""Searches: the configurations of a method, drawn from the space that its algorithm names."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from robustssl import registry
from robustssl.cell import draws
from robustssl.errors import InputError
from robustssl.method import Between, Method, Shares
from robustssl.spec import parse, spell

MOST = 10_000  # configurations of a method
_TRIES = 1000  # to draw a configuration that differs from the earlier ones


def configurations(asked: str, budget: str | None, count: int) -> Iterator[Method]:
    """The first configurations of a method that a study asks for. All have the baseline of the
    first one, whose configurations are searched as well.
    """
    return (configuration(asked, budget, number) for number in range(count))


def configuration(asked: str, budget: str | None, number: int) -> Method:
    """The configuration of that number."""
    method = registry.describe(asked, budget)
    return replace(method, spec=configured(asked, budget, number), configuration=number)


@cache
def configured(asked: str, budget: str | None, number: int) -> str:
    """A configuration of a method, as a spec: number 0 is the method as it is asked for. The others
    are drawn by the name of the algorithm and the number alone, and drawn anew where they equal an
    earlier one. Options that are asked for stay.
    """
    if not 0 <= number < MOST:
        raise InputError(f"configurations have the numbers 0 to {MOST - 1:,}, got {number}")
    name, options = parse(asked)
    spec = registry.canonical("algorithm", asked, budget)
    if number == 0:
        return spec
    known = registry.about("algorithm", name)
    space = {option: known.space[option] for option in sorted(known.space.keys() - options.keys())}
    usual = {**known.options, **parse(spec)[1]}
    earlier = {configured(asked, budget, before) for before in range(number)}
    rng = draws([name, number])
    for _ in range(_TRIES):
        places = dict(zip(space, rng.random(len(space)).tolist(), strict=True))
        drawn = {option: value_at(space[option], usual[option], x) for option, x in places.items()}
        if known.family == "statistical" and "base" in known.nested:  # nets are given its options
            drawn["base"] = configured(usual["base"], None, number)
        found = registry.canonical("algorithm", spell(name, {**options, **drawn}), budget)
        if found not in earlier:
            return found
    raise InputError(f"{name} has no {number + 1} different configurations: its space is too small")


def value_at(values: Any, usual: Any, place: float) -> Any:
    """What a search draws at a place from 0 to below 1; of shares, that share of the usual
    value.
    """
    if isinstance(values, Between):
        return values.at(place)
    some = values.shares if isinstance(values, Shares) else values
    chosen = some[int(place * len(some))]
    return max(1, round(usual * chosen)) if isinstance(values, Shares) else chosen
