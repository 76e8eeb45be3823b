"""The tables of a ledger, the same on SQLite and PostgreSQL, as the last migration leaves them.

charges is a chain and only ever grows: row 0 opens the ledger, and the hash of each row covers the
row before, what is charged and to whom (`chain`). A reservation that is settled or cancelled is one
more row, with the same key. users, entries and balances follow from it, and `check` says whether
they do; the one row of head is the end of the chain, and the lock that every writer takes first.

Numbers that may be large are text (`amounts`); times are UTC with microseconds, as text that sorts.
Empty text stands for what is not given: no column is ever NULL.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

REVISIONS = ("0001", "0002")  # of the schema, one a file in `migrations/versions`
REVISION = REVISIONS[-1]

metadata = MetaData()

limits = Table(
    "limits",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("claim", Text, nullable=False),
    Column("levels", Text, nullable=False),  # what counts towards it, and how much there is
    Column("days", Integer, nullable=False),  # 0: for ever
    Column("project", Text, nullable=False),  # "": all
)

users = Table(
    "users",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
)

charges = Table(
    "charges",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("action", Text, nullable=False),  # open, charge, reserve, settle or cancel
    Column("key", Text, nullable=False),
    Column("stage", Integer, nullable=False),  # 0 what opens a key, 1 what closes it
    Column("project", Text, nullable=False),
    Column("neighbours", Text, nullable=False),
    Column("certificate", Text, nullable=False),  # its SHA-256
    Column("at", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("key", "stage"),
)

uses = Table(
    "uses",
    metadata,
    Column("charge", BigInteger, ForeignKey("charges.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("mechanism", Text, nullable=False),
    Column("times", BigInteger, nullable=False),
    Column("costs", Text, nullable=False),  # of one use: what it is at every level of every limit
)

entries = Table(
    "entries",
    metadata,
    Column("charge", BigInteger, ForeignKey("charges.id"), primary_key=True),
    Column("user", BigInteger, ForeignKey("users.id"), primary_key=True),
    Index("entries_by_user", "user", "charge"),
)

balances = Table(
    "balances",
    metadata,
    Column("user", BigInteger, ForeignKey("users.id"), primary_key=True),
    Column("limit", Integer, ForeignKey("limits.id"), primary_key=True),
    Column("spent", Text, nullable=False),
)

head = Table(
    "head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("charges", BigInteger, nullable=False),
    Column("users", BigInteger, nullable=False),
    Column("at", Text, nullable=False),
    Column("neighbours", Text, nullable=False),
    Column("hash", Text, nullable=False),
)
