"""Where a store lies: a file, or a database by its URL; and how a connection to it is made."""

import os
import re
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from robustssl.errors import InputError

# What no file is called, but a URL that lacks a sign: user:password@host, or ?password=...
_SECRET = re.compile(r"//.*@|:(?![\\/]).*@|[?&]password=", re.DOTALL)


def url_of(place: str | Path) -> sa.URL | None:
    """The URL of a database, None for a file."""
    write = "write postgresql+psycopg://USER@HOST:PORT/DATABASE"
    if not re.match(r"[\w+]{2,}:/", str(place)):
        if _SECRET.search(str(place)):
            raise InputError(f"cannot read the URL of the store; {write}")
        return None
    try:
        url = sa.make_url(str(place))
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(f"cannot read the URL of the store; {write}") from None
    if "@" in (url.host or "") or "@" in (url.database or ""):
        raise InputError(f"cannot read the URL of the store; {write}, a @ in a password as %40")
    if url.get_backend_name() != "postgresql":
        raise InputError(
            f"a store is a file (SQLite) or postgresql+psycopg://USER@HOST/DATABASE, not "
            f"{url.get_backend_name()}://"
        )
    return url


def shown(place: str | Path) -> str:
    """What to call a store: a password in its URL is not shown."""
    url = url_of(place)
    return str(place) if url is None else _without_password(url)


def _without_password(url: sa.URL) -> str:
    return url.set(query={}).render_as_string(hide_password=True)


class NoStoreError(InputError):
    """There is nothing where a store should be."""


def engine_of(place: str | Path, create: bool) -> sa.Engine:
    """What connects to a store; without `create` its file must be there."""
    url = url_of(place)
    return _file(Path(place), create) if url is None else _server(url)


def _server(url: sa.URL) -> sa.Engine:
    try:
        engine = sa.create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise InputError(
            f"a store in PostgreSQL needs {error.name}: pip install 'robustssl[postgres]', and a "
            "URL that begins with postgresql+psycopg://"
        ) from error
    sa.event.listen(engine, "do_connect", partial(_connect, _without_password(url), url))
    return engine


PATIENCE = 60.0  # seconds for a server that was there to come back
_AWAY = (
    *("refused", "No such file", "starting up", "shutting down", "in recovery mode"),
    *("not yet accepting", "closed the connection", "terminating connection", "reset by peer"),
)
_reached: set[sa.URL] = set()  # servers that this process was connected to


def _connect(store: str, url: sa.URL, dialect: Any, _: Any, words: Any, options: Any) -> Any:
    """Connect to a server; one that was there before may be restarting, and is waited for."""
    end, waits = time.monotonic() + PATIENCE, False
    while True:
        try:
            connection = dialect.connect(*words, **options)
        except dialect.dbapi.OperationalError as error:
            away = url in _reached and any(reason in str(error) for reason in _AWAY)
            if not away or time.monotonic() > end:
                raise
        else:
            _reached.add(url)
            return connection
        if not waits:
            wait = f"trying again for {PATIENCE:g} s"
            print(f"robustssl: the store {store} does not answer; {wait}", file=sys.stderr)
        waits = True
        time.sleep(0.5)


def _file(path: Path, create: bool) -> sa.Engine:
    if not create and not path.exists():
        raise NoStoreError(f"there is no store at {path}; `robustssl run` makes one")
    if not path.absolute().parent.is_dir():
        raise InputError(f"the folder of the store {path} does not exist")
    engine = sa.create_engine(_url(path), connect_args={"timeout": 60})
    sa.event.listen(engine, "connect", _set_up_connection)
    return engine


def _url(path: Path) -> sa.URL:
    """A file that cannot be written to, and that no writer has open, is read without locks."""
    place = str(path.absolute())
    if path.exists() and not os.access(path, os.W_OK) and not Path(f"{place}-wal").exists():
        query = {"uri": "true", "immutable": "1"}
        return sa.URL.create("sqlite", database=f"file:{quote(place)}", query=query)
    return sa.URL.create("sqlite", database=place)


def _set_up_connection(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # `_writing` begins transactions; reading needs none
    connection.execute("PRAGMA synchronous=NORMAL")
