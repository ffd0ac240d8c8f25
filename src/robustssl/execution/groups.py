"""Which cells are run together: by one fit, or as one stack of nets."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from robustssl import registry
from robustssl.cell import Cell
from robustssl.spec import parse

Group = tuple[Cell, ...]


def groups(cells: Sequence[Cell]) -> Iterator[Group]:
    """The cells that are run together: those of one curve where models are fitted together, which
    come first, those beside each other that one fit answers, else one.
    """
    curves: dict[Cell, list[Cell]] = {}
    for cell in cells:
        if are_nets((cell,)):
            curves.setdefault(replace(cell, t=0.0, seed=0), []).append(cell)
    yield from map(tuple, curves.values())
    for _, alike in groupby((cell for cell in cells if not are_nets((cell,))), fit_of):
        yield tuple(alike)


def are_nets(group: Group) -> bool:
    """Whether the models of a group are fitted together, and on a GPU if there is one."""
    return is_net(group[0].algorithm)


@lru_cache
def is_net(method: str) -> bool:
    """Whether a method, named or as a spec, is a net."""
    return registry.about("algorithm", parse(method)[0]).family == "deep"


def fit_of(cell: Cell) -> Cell:
    """The first of the cells that have the same fit: a supervised algorithm sees no t. (A ceiling,
    `access=labels`, shows labels that depend on t even to such an algorithm.)
    """
    ceiling = cell.task.access == "ceiling"
    supervised = registry.about("algorithm", cell.algorithm).supervised
    return replace(cell, t=0.0) if supervised and not ceiling else cell
