"""The database of a store: asked again where a connection is lost; its refusals are sentences."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy as sa

from robustssl.errors import InputError
from robustssl.records.migrations import prepare
from robustssl.records.places import engine_of, shown
from robustssl.records.record import UNREADABLE

_TRIES = 5  # of what is asked of a server, where the connection is lost

P = ParamSpec("P")
R = TypeVar("R")
D = TypeVar("D", bound="Database")


def again(ask: Callable[Concatenate[D, P], R]) -> Callable[Concatenate[D, P], R]:
    """Ask again where the connection is lost on the way, a few times."""

    @wraps(ask)
    def patient(database: D, /, *args: P.args, **options: P.kwargs) -> R:
        left = _TRIES
        with database._refusals():
            while True:
                try:
                    return ask(database, *args, **options)
                except sa.exc.DBAPIError as error:
                    left -= 1
                    if not error.connection_invalidated or not left:
                        raise
                    time.sleep(1)

    return patient


class Database:
    """A connection to the tables of a store, which are made or brought up to date."""

    def __init__(self, place: str | Path, create: bool = True) -> None:
        self.place = shown(place)
        self._engine = engine_of(place, create)
        self._dialect = self._engine.dialect.name
        try:
            self._prepare(create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._engine.dispose()

    @again
    def _prepare(self, create: bool) -> None:
        prepare(self._engine, self.place, create)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """What the database refuses, in a sentence."""
        try:
            yield
        except sa.exc.DatabaseError as error:
            reason = str(error.orig)
            if "not a database" in reason:
                raise InputError(f"{self.place} is not a store: {reason}") from error
            kept = ". What was committed before is kept" if "full" in reason else ""
            raise InputError(f"the store {self.place} cannot be used: {reason}{kept}") from error
        except UnicodeDecodeError as error:  # SQLite names the damaged place in its own bytes
            raise InputError(f"the store {self.place} cannot be used: it is damaged") from error

    @contextmanager
    def _parsing(self) -> Iterator[None]:
        """Around the parsing of what the database holds, and nothing else."""
        try:
            yield
        except UNREADABLE as error:
            reason = f"{type(error).__name__}: {error}"
            raise InputError(
                f"{self.place} holds what robustssl did not write ({reason[:200]}); `robustssl "
                "store check` tells where"
            ) from error
