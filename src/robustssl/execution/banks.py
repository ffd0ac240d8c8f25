"""Encoding the rows of a study before its cells are run, so that there is one bar for all of it."""

from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import numpy as np

from robustssl import registry
from robustssl.cell import Cell
from robustssl.data import UNBANKED
from robustssl.encoders import Pretrained, digests_of
from robustssl.errors import InputError
from robustssl.execution.engines.processes import Pool, clean_start, end_pool, pool_of
from robustssl.execution.groups import are_nets
from robustssl.progress import silent
from robustssl.spec import parse
from robustssl.splits import prepare

Draw = tuple[str, int, int]  # an environment, labels, a seed
Wanted = dict[str, dict[Draw, bool]]  # by dataset; whether nets ask for views


def wanted_banks(cells: Iterable[Cell]) -> Wanted:
    """What the cells need encoded."""
    wanted: Wanted = {}
    for cell in cells:
        if parse(str(parse(cell.dataset)[1].get("encoder", "")) or "none")[0] not in UNBANKED:
            draws = wanted.setdefault(cell.dataset, {})
            draw = (cell.environment, cell.labels, cell.seed)
            draws[draw] = draws.get(draw, False) or are_nets((cell,))
    return wanted


def make_banks(cells: Iterable[Cell], gpu: str | None = None, progress: bool = True) -> None:
    """Encode what the cells need, in a process of its own; if it dies, the cells say why."""
    wanted = wanted_banks(cells)
    if not wanted:
        return
    with _pool(gpu) as pool, suppress(BrokenProcessPool):
        with clean_start():
            making = pool.submit(_make, wanted, progress)
        making.result()


@contextmanager
def _pool(gpu: str | None) -> Iterator[Pool]:
    pool = pool_of(1, gpu)
    try:
        yield pool
    finally:
        end_pool(pool, at_work=True)


def _make(wanted: Wanted, progress: bool) -> None:
    """Encode the rows of each dataset. What fails here fails again in a cell, whose record says
    why; only the sentence of an encoder that cannot be had is raised at once.
    """
    for dataset, draws in wanted.items():
        try:
            with nullcontext() if progress else silent():
                try:
                    encoder, rows, viewed = _rows(dataset, draws)
                except InputError:
                    continue
                encoder.vectors(rows)
                if len(viewed):
                    encoder.views(viewed)
        except InputError:
            raise
        except Exception:
            continue


def _rows(dataset: str, draws: dict[Draw, bool]) -> tuple[Pretrained, Any, Any]:
    """The encoder of a dataset, the rows that are encoded, and those whose views are."""
    every: dict[bytes, Any] = {}
    viewed: dict[bytes, Any] = {}
    encoder = registry.encoder(registry.dataset(dataset).encoder)
    if not isinstance(encoder, Pretrained):
        raise InputError(f"{encoder.spec} keeps no vectors")
    for (environment, labels, seed), views in draws.items():
        prepared = prepare(dataset, environment, labels, seed)
        seen, others = prepared.encoded()
        for kept, part in ((every, seen), (every, others), *([(viewed, seen)] * views)):
            kept.update(zip(digests_of(part), part, strict=True))
    return encoder, *(_array(found, registry.dataset(dataset).X) for found in (every, viewed))


def _array(rows: dict[bytes, Any], like: Any) -> Any:
    found = np.empty((len(rows), *like.shape[1:]), like.dtype)
    for place, row in enumerate(rows.values()):
        found[place] = row
    return found
