"""Where a ledger is kept: SQLite or PostgreSQL, and transactions that cannot interleave.

*Writing.* On SQLite a writing transaction is BEGIN IMMEDIATE: there is one writer at a time, and it
sees all that was committed before. On PostgreSQL it is READ COMMITTED and its first statement locks
the row of `head`: the next writer waits there, and all that it reads afterwards it reads in
snapshots taken after it got the lock. Either way writers follow one another, each on what the one
before has committed: no other isolation is needed, and none can deadlock.

*Durable.* SQLite with WAL and synchronous=FULL syncs the log at every commit; PostgreSQL with
synchronous_commit=on (set here, whatever the server's default) does. What `write` returned from
survives a power cut, as far as the disk keeps what it says it has. The log is then written back
into the file and emptied, unless somebody reads it: whoever has the file has it all.

*Reading.* One snapshot: a deferred transaction, or REPEATABLE READ, READ ONLY.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from ..exact import OutOfTimeError, ParameterError
from . import files, tables
from .address import read_address, shown, without_secrets
from .errors import DamagedError, LedgerError, UnavailableError
from .inputs import read_timeout
from .schema import REVISION

_SHORTEST, _LONGEST = 0.001, 0.05  # seconds between attempts to become the writer, on average
_LONGEST_TEXT = 10**8  # bytes of a row
_NOT_OURS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError)
_MIGRATIONS = Path(__file__).parent / "migrations"


class Database:
    """A database by its URL: connections, transactions, the version of the schema."""

    def __init__(
        self, url: str, timeout: float = 30, read_only: bool = False, new: bool = False
    ) -> None:
        self.url = read_address(url)
        self.shown, self.read_only, self._timeout = shown(url), read_only, read_timeout(timeout)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._process = os.getpid()
        if self.is_sqlite:
            self.path = files.find(self.url.database or "", self.shown, new)
            self._file = files.standing(self.path, writes=False)
            self._hold: files.Hold | None = files.Hold(self.path)
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
        if self.is_sqlite and self._hold is not None:
            self._hold.close()
            self._hold = None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes, durable when the block has ended; an error undoes it."""
        if self.read_only:
            raise LedgerError("the ledger is opened to be read only")
        if not self.is_sqlite:
            with self._told(), self.engine.connect() as connection, connection.begin():
                yield connection
            return
        with (
            self._told(),
            files.writing(self._file.ledger),
            self.engine.connect() as connection,
        ):
            with connection.begin():
                self._lock(connection)
                self._demand_file(connection)
                assert self._hold is not None
                files.demand_history(connection.exec_driver_sql, self._hold.mark())
                yield connection
                self._demand_file(connection)
            self._empty_log(connection)

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
                    self._demand_file(connection)
                elif snapshot is not None:
                    quoted = snapshot.replace("'", "''")
                    connection.exec_driver_sql(f"SET TRANSACTION SNAPSHOT '{quoted}'")
                yield connection

    def snapshot(self, connection: Connection) -> str | None:
        """The name by which others see what this transaction sees; None on SQLite."""
        if self.is_sqlite:
            return None
        return str(connection.execute(text("SELECT pg_export_snapshot()")).scalar_one())

    def _demand_file(self, connection: Connection) -> None:
        """Raise ReplacedError where this connection's file is not that at the path any more."""
        opened: files.Files = connection.info["files"]
        opened.demand(files.standing(self.path, not self.read_only))

    def _empty_log(self, connection: Connection) -> None:
        """Bring what is recorded into the file itself, as far as readers of its log let us."""
        cursor = connection.connection.cursor()
        cursor.execute("PRAGMA busy_timeout=0")
        with suppress(sqlite3.Error):  # what is recorded is durable, in the log or in the file
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        cursor.execute(f"PRAGMA busy_timeout={int(1000 * self._timeout)}")
        cursor.close()

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
        """What the database raises, and what its content does that is not as we write it, typed."""
        try:
            yield
        except (ParameterError, LedgerError, OutOfTimeError):
            raise
        except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:  # text that is damaged
            cause = error.orig if isinstance(error, DBAPIError) else error
            line = without_secrets(" ".join(str(cause).split()), self.url)
            raise UnavailableError(f"the database of the ledger: {line[:300]}") from error
        except _NOT_OURS as error:
            said = (
                " ".join(str(error).split())[:300]
                if type(error) is ValueError
                else "a value is damaged"
            )
            raise DamagedError(
                f"the ledger is not as it was written: {said}: see `exactdp ledger check`"
            ) from error

    def _sqlite(self) -> Engine:
        mode = "ro" if self.read_only else "rw"
        name = f"file://{quote(str(self.path))}?mode={mode}"
        arguments: dict[str, Any] = {
            "timeout": self._timeout,
            "uri": True,
            "check_same_thread": False,
        }

        def opened() -> sqlite3.Connection:
            if self._hold is None:  # it was closed
                self._hold = files.Hold(self.path)
            log = Path(f"{os.path.realpath(self.path)}-wal")
            if log.exists() and log.stat().st_size:  # whoever only reads does not write it back
                own = self._hold.mark()
                reader = sqlite3.connect(f"file://{quote(str(self.path))}?mode=ro", **arguments)
                try:
                    files.demand_history(reader.execute, own)
                except sqlite3.DatabaseError as error:
                    raise UnavailableError(f"the file and its log (-wal): {error}") from error
                finally:
                    reader.close()
            made: sqlite3.Connection = sqlite3.connect(name, **arguments)
            return made

        made = create_engine(
            "sqlite://",
            creator=opened,
            poolclass=QueuePool,
            pool_timeout=self._timeout,
        )

        @event.listens_for(made, "connect")
        def _prepare(connection: Any, record: Any) -> None:
            connection.isolation_level = None  # BEGIN is ours
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_TEXT)
            cursor = connection.cursor()
            if not self.read_only:
                cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=FULL")
            cursor.execute("PRAGMA foreign_keys=ON")
            cursor.execute("PRAGMA cell_size_check=ON")  # more of what is damaged is noticed
            cursor.execute("PRAGMA trusted_schema=OFF")
            cursor.execute("SELECT count(*) FROM sqlite_master").fetchone()  # its log is open now
            cursor.close()
            self._file.demand(files.standing(self.path, writes=False))
            record.info["files"] = files.standing(self.path, not self.read_only)

        return made

    def _postgresql(self) -> Engine:
        wait = max(1, int(1000 * self._timeout))  # 0 would be for ever
        asked = self.url.query.get("options", "")
        options = asked if isinstance(asked, str) else " ".join(asked)
        options += f" -c synchronous_commit=on -c lock_timeout={wait}"  # the last one holds
        if self.read_only:
            options += " -c default_transaction_read_only=on"
        given: dict[str, Any] = {"options": options.strip()}
        if "connect_timeout" not in self.url.query:
            given["connect_timeout"] = max(2, int(self._timeout))
        return create_engine(
            self.url.difference_update_query(["options"]),
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
