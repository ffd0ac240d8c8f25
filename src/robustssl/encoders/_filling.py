"""Fill a bank: encode the rows that it lacks."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import numpy.typing as npt

from robustssl.downloads.banks import Bank, Vectors
from robustssl.encoders._digests import Rows
from robustssl.errors import InputError
from robustssl.progress import console, watch

PART = {"cpu": 256, "cuda": 1024}  # rows that are encoded and kept at once
FEW = 16  # rows that a core encodes at once

Encode = Callable[[Rows, Sequence[bytes], int], npt.NDArray[Any]]  # `Pretrained.encode`

_only_kept: ContextVar[bool] = ContextVar("only_kept", default=False)


class NotEncodedError(InputError):
    """Rows are in no bank, where only what a bank holds may be used."""


@contextmanager
def only_kept() -> Iterator[None]:
    """Inside, rows that no bank holds are an error, for who may not take long."""
    token = _only_kept.set(True)
    try:
        yield
    finally:
        _only_kept.reset(token)


def fill(
    bank: Bank, rows: Rows, digests: Sequence[bytes], versions: range, encode: Encode, by: str
) -> None:
    """Encode the rows that a bank lacks, unless only what it holds may be used."""
    if _only_kept.get():
        raise NotEncodedError(
            f"rows are not encoded by {by} yet; a run does that first, and that time is not counted"
        )
    with bank.alone():  # whoever waits here finds the rows that others made
        _add(bank, rows, digests, versions, encode, by)
    bank.missing(digests)  # reads what was added


def _add(
    bank: Bank, rows: Rows, digests: Sequence[bytes], versions: range, encode: Encode, by: str
) -> None:
    """Encode what is missing: on a CPU a few rows in each thread, which waits for no other."""
    missing = bank.missing(digests)
    if rows.dtype == object:
        missing.sort(key=lambda place: len(rows[place]))  # texts of like length, little padding
    what = "vectors" if versions.start == 0 else "vectors of views"
    total, unit = len(missing) * len(versions), f"{what} by {by}"
    with watch(total, console(), unit=unit) as seen, _threads() as pool, _adding(bank) as add:
        part = PART["cuda" if pool is None else "cpu"]
        for start in range(0, len(missing), part):
            places = missing[start : start + part]
            chosen, found = [digests[place] for place in places], []
            for version in versions:
                found.append(_encoded(encode, rows[places], chosen, version, pool))
                seen.step(count=len(places))
            add(chosen, found)


def _encoded(
    encode: Encode, rows: Rows, digests: Sequence[bytes], version: int, pool: Executor | None
) -> Vectors:
    if pool is None:
        return encode(rows, digests, version).astype(np.float16)
    starts = range(0, len(rows), FEW)
    parts = [(rows[i : i + FEW], digests[i : i + FEW], version) for i in starts]
    return np.concatenate([*pool.map(lambda part: encode(*part), parts)]).astype(np.float16)


@contextmanager
def _adding(bank: Bank) -> Iterator[Callable[[Sequence[bytes], Sequence[Vectors]], None]]:
    """A function that adds the versions of rows to a bank while the next ones are encoded."""
    with ThreadPoolExecutor(1) as pool:
        last: list[Future[None]] = []

        def add(digests: Sequence[bytes], versions: Sequence[Vectors]) -> None:
            while last:
                last.pop().result()
            last.append(pool.submit(lambda: bank.add(digests, np.stack(versions, axis=1))))

        yield add
        for future in last:
            future.result()


@contextmanager
def _threads() -> Iterator[Executor | None]:
    """A thread for each core, in which torch uses no other; None where there is a GPU."""
    import torch

    if torch.cuda.is_available():
        yield None
        return
    before = torch.get_num_threads()
    with ThreadPoolExecutor(
        os.cpu_count() or 1, initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        yield pool
    torch.set_num_threads(before)
