"""The tables of a store, and the statements that write to them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from robustssl.method import Method
from robustssl.records.record import SCORES

SCHEMA = 5  # the number of this set of tables; `robustssl.records.migrations` knows older ones
SCORE_COLUMNS = SCORES[:4]  # scores that came later are among the others, so that old stores last

tables = sa.MetaData()

meta = sa.Table(
    "meta",
    tables,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
)

# What many records share (versions, machine, commit), kept once.
provenance = sa.Table(
    "provenance",
    tables,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("document", sa.JSON, nullable=False),
)

# What a method is, kept once.
methods = sa.Table(
    "methods",
    tables,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("document", sa.JSON, nullable=False),
)

records = sa.Table(
    "records",
    tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String(32), nullable=False, index=True),
    sa.Column("algorithm", sa.String, nullable=False),
    sa.Column("params", sa.JSON, nullable=False),
    sa.Column("environment", sa.String, nullable=False),
    sa.Column("dataset", sa.String, nullable=False),
    sa.Column("labels", sa.BigInteger, nullable=False),
    sa.Column("t", sa.Double, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("versions", sa.JSON, nullable=False),
    *(sa.Column(name, sa.Double) for name in SCORE_COLUMNS),
    sa.Column("other_scores", sa.JSON, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("error", sa.String),
    sa.Column("warnings", sa.JSON, nullable=False),
    sa.Column("digest", sa.String),
    sa.Column("predictions", sa.JSON(none_as_null=True)),
    sa.Column("dataset_sha256", sa.String),
    sa.Column("split_digest", sa.String),
    sa.Column("provenance", sa.ForeignKey("provenance.id"), nullable=False),
    sa.Column("log", sa.String),
    sa.Column("method", sa.String),  # the id of a method
    sa.Column("test_rows", sa.BigInteger),
    sa.Column("sha256", sa.String(32)),  # of the record; those of older versions have none
    sa.Column("bits", sa.String),
)
success = records.c.error.is_(None)
sa.Index(
    "one_success",
    records.c.key,
    unique=True,
    sqlite_where=success,
    postgresql_where=success,
)
# What progress is counted by; with an index, the records themselves need not be read. PostgreSQL
# cannot have it: it does not compare JSON.
COUNTED_BY = ("algorithm", "params", "environment", "dataset", "labels", "versions")
counted = sa.Index(
    "counted",
    *(records.c[name] for name in (*COUNTED_BY, "t", "seed", "seconds")),
    sqlite_where=success,
).ddl_if(dialect="sqlite")


def insert(dialect: str) -> Any:
    """The INSERT of a dialect, which can leave conflicts alone."""
    return {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[dialect]


def shared_row(document: Mapping[str, Any]) -> dict[str, Any]:
    """What many records share, under a digest of itself."""
    text = json.dumps(document, sort_keys=True)
    return {"id": hashlib.sha256(text.encode()).hexdigest()[:16], "document": dict(document)}


def method_row(method: Method) -> dict[str, Any]:
    return shared_row(method.to_dict())


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that waits for the write lock at its start, where waiting is possible."""
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection
