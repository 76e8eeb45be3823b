"""Where a ledger is kept: SQLite or PostgreSQL, and transactions that cannot interleave.

*Writing.* On SQLite a writing transaction is BEGIN IMMEDIATE: there is one writer at a time, and it
sees all that was committed before. On PostgreSQL it is READ COMMITTED and its first statement locks
the row of `head`: the next writer waits there, and all that it reads afterwards it reads in
snapshots taken after it got the lock. Either way writers follow one another, each on what the one
before has committed: no other isolation is needed, and none can deadlock.

*Durable.* SQLite with WAL and synchronous=FULL syncs the log at every commit; PostgreSQL with
synchronous_commit=on (set here, whatever the server's default) does. What `write` returned from
survives a power cut, as far as the disk keeps what it says it has.

*Reading.* One snapshot: a deferred transaction, or REPEATABLE READ, READ ONLY.
"""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from ..exact import ParameterError
from . import tables
from .errors import DamagedError, LedgerError, UnavailableError
from .inputs import read_timeout
from .schema import REVISION

_SHORTEST, _LONGEST = 0.001, 0.05  # seconds between attempts to become the writer, on average
_MIGRATIONS = Path(__file__).parent / "migrations"


class Database:
    """A database by its URL: connections, transactions, the version of the schema."""

    def __init__(
        self, url: str, timeout: float = 30, read_only: bool = False, new: bool = False
    ) -> None:
        self.shown, self.read_only, self._timeout = url, read_only, read_timeout(timeout)
        self.url = _url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._process = os.getpid()
        if self.is_sqlite:
            self.path = _file(self.url.database or "", url, new)
        self._engine = self._sqlite() if self.is_sqlite else self._postgresql()

    @property
    def engine(self) -> Engine:
        """The connections of this process: a forked one must not use its parent's."""
        if os.getpid() != self._process:
            self._engine.dispose(close=False)
            self._process = os.getpid()
        return self._engine

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes, durable when the block has ended; an error undoes it."""
        if self.read_only:
            raise LedgerError("the ledger is opened to be read only")
        with self._told(), self.engine.connect() as connection, connection.begin():
            if self.is_sqlite:
                self._lock(connection)
            yield connection

    @contextmanager
    def read(self, snapshot: str | None = None) -> Iterator[Connection]:
        """A transaction that sees one state of the ledger throughout: that of a snapshot, if given.

        snapshot: as `snapshot` has named it, in a transaction that still goes on.
        """
        with self._told(), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                if self.is_sqlite:
                    connection.exec_driver_sql("BEGIN")
                elif snapshot is not None:
                    quoted = snapshot.replace("'", "''")
                    connection.exec_driver_sql(f"SET TRANSACTION SNAPSHOT '{quoted}'")
                yield connection

    def snapshot(self, connection: Connection) -> str | None:
        """The name by which others see what this transaction sees; None on SQLite."""
        if self.is_sqlite:
            return None
        return str(connection.execute(text("SELECT pg_export_snapshot()")).scalar_one())

    def _lock(self, connection: Connection) -> None:
        """BEGIN IMMEDIATE; SQLite's own way to wait sleeps up to 100 ms between two attempts."""
        cursor = connection.connection.cursor()
        end, pause = time.monotonic() + self._timeout, _SHORTEST
        cursor.execute("PRAGMA busy_timeout=0")
        try:
            while not _begun(cursor, last=time.monotonic() > end):
                time.sleep(random.uniform(0, 2) * pause)
                pause = min(2 * pause, _LONGEST)
        finally:
            cursor.execute(f"PRAGMA busy_timeout={int(1000 * self._timeout)}")
            cursor.close()

    def revision(self, connection: Connection) -> str | None:
        """Of the schema; None where there is no ledger."""
        if not inspect(connection).has_table("alembic_version"):
            return None
        rows = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
        return str(rows[0]) if len(rows) == 1 else "?"

    def check_revision(self, connection: Connection) -> None:
        """Raises ParameterError where there is no ledger of this version, DamagedError for others'
        tables, triggers and views."""
        found = self.revision(connection)
        if found is None:
            raise ParameterError(f"URL: there is no ledger at {self.shown!r}")
        if found != REVISION:
            raise ParameterError(
                f"URL: the ledger's schema is of revision {found[:40]!r}, not {REVISION}: "
                "`exactdp ledger migrate` brings it there"
            )
        if (wrong := tables.difference(connection)) is not None:
            raise DamagedError(f"{wrong}: see `exactdp ledger check`")

    def migrate(self, connection: Connection, revision: str = REVISION) -> None:
        """Bring the schema to a revision ("base": away with it), within the transaction."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        now = self.revision(connection)
        back = now is not None and (revision == "base" or revision < now)
        (command.downgrade if back else command.upgrade)(config, revision)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:  # text that is damaged
            cause = error.orig if isinstance(error, DBAPIError) else error
            line = " ".join(str(cause).split())
            raise UnavailableError(f"the database of the ledger: {line[:300]}") from error

    def _sqlite(self) -> Engine:
        mode = "ro" if self.read_only else "rwc"
        name = f"file:{quote(str(self.path))}?mode={mode}"
        arguments: dict[str, Any] = {
            "timeout": self._timeout,
            "uri": True,
            "check_same_thread": False,
        }
        made = create_engine(
            "sqlite://",
            creator=lambda: sqlite3.connect(name, **arguments),
            poolclass=QueuePool,
            pool_timeout=self._timeout,
        )

        @event.listens_for(made, "connect")
        def _prepare(connection: Any, _: object) -> None:
            connection.isolation_level = None  # BEGIN is ours
            cursor = connection.cursor()
            if not self.read_only:
                cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=FULL")
            cursor.execute("PRAGMA foreign_keys=ON")
            cursor.execute("PRAGMA cell_size_check=ON")  # more of what is damaged is noticed
            cursor.execute("PRAGMA trusted_schema=OFF")
            cursor.close()

        return made

    def _postgresql(self) -> Engine:
        wait = max(1, int(1000 * self._timeout))  # 0 would be for ever
        options = f"-c synchronous_commit=on -c lock_timeout={wait}"
        if self.read_only:
            options += " -c default_transaction_read_only=on"
        given = {"options": options, "connect_timeout": max(2, int(self._timeout))}
        return create_engine(
            self.url,
            connect_args=given,
            isolation_level="READ COMMITTED",
            pool_pre_ping=True,
            pool_timeout=self._timeout,
        )


def _begun(cursor: Any, last: bool) -> bool:
    """Is it the writer now? At the last attempt, raises OperationalError where it is not."""
    try:
        cursor.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if last or "locked" not in str(error):
            raise
        return False
    return True


def _file(path: str, shown: str, new: bool) -> Path:
    """The file of a ledger, or the place of a new one."""
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError as error:
        if not new:
            raise ParameterError(f"URL: there is no ledger at {shown[:60]!r}") from error
    except (OSError, ValueError) as error:
        raise ParameterError(f"URL: {shown[:60]!r}: {error}") from error
    else:
        if not stat.S_ISREG(kind):
            raise ParameterError(f"URL: not a regular file: {shown[:60]!r}")
    return Path(path)


def _url(text: str) -> URL:
    """A path, or a URL of SQLite or PostgreSQL."""
    if not isinstance(text, str) or not text or not text.isprintable():
        raise ParameterError("URL must be a path or postgresql://..., in printable text")
    if text.endswith(":memory:"):
        raise ParameterError("URL must be a path: what is in memory alone would be lost")
    if "://" not in text:
        return URL.create("sqlite", database=os.path.abspath(text))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise ParameterError("URL must be a path or postgresql://...") from error
    name = url.get_backend_name()
    if name == "sqlite" and url.database:
        return URL.create("sqlite", database=os.path.abspath(url.database))
    if name in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise ParameterError(f"URL must be a path or postgresql://..., got {text[:60]!r}")
