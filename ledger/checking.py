"""Whether a ledger is what it says: every cost, every sum and the chain of hashes, again.

That rows are numbered without a gap, that each hash covers what the row says and the hash before
it, that reservations are closed once, that the costs bound what its mechanisms cost, computed anew
(`check_rows`); that the tables are those that the migrations make, and the file is whole
(`tables`); that every balance is the sum of what was charged and not cancelled, and that it was
within its limit at every charge (`check_users`); and that no table holds a row besides.

*In parts.* Stretches of the chain and some thousand users at a time are checked by themselves, each
held in memory alone; by several processes, or on a cluster, where that is wanted. The parts are the
same, and where several break it is the first that is told: so is the answer, for any number of
workers. All see one state of the ledger: PostgreSQL lets transactions share a snapshot; on SQLite a
part whose worker finds another head than we do is checked here, in our transaction.

*Costs.* What is recorded must not be below the enclosure that is computed now: then it is refuted;
and must not be below its upper end: then it is not proved. A version that measures more narrowly
than the one that charged finds more recorded than needed, which is sound.

*What it cannot see.* Who rewrites the whole chain from some row on, hashes, head, balances and all,
makes another ledger that is right in itself. Its head differs: keep `head` elsewhere, and pass it
here; it may also be that of an earlier row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, Select, func, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from ..common.parallel import each
from ..exact import ParameterError
from . import check_rows, check_users, rows, tables
from .chain import NOTHING
from .database import Database
from .errors import BrokenError, DamagedError, called
from .head import demand_opening
from .limits import Limit
from .schema import REVISION, balances, charges, entries, metadata, users, uses

_BROKEN = (
    *(ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError),
    *(SQLAlchemyError, DamagedError),
)


@frozen
class Checked:
    """Whether a ledger is right.

    valid, reason  is it, and why not
    rows           how many its chain has; of one that is wrong, how many before it breaks
    head           the chain's last hash, to be kept elsewhere
    unproved       which costs the checker of certificates could not establish, where it was asked
    `bool()` of it raises TypeError: ask `.valid`.

    >>> import tempfile
    >>> from exactdp.ledger import Ledger
    >>> with Ledger.create(tempfile.mkdtemp() + "/ledger.db", "pure:1") as ledger:
    ...     entry = ledger.charge("discrete-laplace:epsilon=0.1", ["ada"], key="one")
    ...     ledger.check().valid
    True
    """

    valid: bool
    reason: str
    rows: int
    head: str
    unproved: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        raise TypeError("the outcome of a check is not true or false: ask .valid")

    def to_json(self) -> dict[str, Any]:
        """As `exactdp ledger check --json` prints it."""
        shown = {"valid": self.valid, "reason": self.reason, "rows": self.rows, "head": self.head}
        return shown | ({"unproved": list(self.unproved)} if self.unproved else {})


@frozen
class _End:
    """What the ledger says of itself: how many rows and users, the last hash, time, neighbours."""

    rows: int
    users: int
    at: str
    neighbours: str
    hash: str


@frozen
class _Task:
    """A part: rows of the chain, or users, from the first up to the end."""

    index: int
    of_rows: bool
    first: int
    end: int


@frozen
class _Found:
    """What is in a part; reason: why it breaks, after how many rows and with which last hash."""

    reason: str | None = None
    rows: int = 0
    hash: str = NOTHING
    at: str = ""
    uses: int = 0
    entries: int = 0
    balances: int = 0
    opened: bool = False


@frozen
class _Crew:
    """Processes or a cluster that check parts of the ledger at a URL."""

    url: str
    timeout: float
    snapshot: str | None
    workers: int
    cluster: str | None

    def do(
        self, tasks: Sequence[_Task], limits: tuple[Limit, ...], end: _End
    ) -> Iterable[tuple[int, _Found | None]]:
        """Each task's number and what is found; None where the ledger has moved on."""
        return each(partial(_elsewhere, self, limits, end), tasks, self.workers, self.cluster)


def check(
    connection: Connection,
    kept: str | None = None,
    progress: Callable[[int], None] = lambda more: None,
    prove: float | None = None,
    crew: _Crew | None = None,
) -> Checked:
    """Check all of a ledger, in one transaction. kept: a hash that must be in its chain.

    progress: is told from time to time how many rows and users more are done. prove: how many
    seconds the checker of certificates may take to prove each cost too; None: it is not asked.
    crew: who checks the parts, if not this process.
    """
    right = 0, NOTHING
    try:
        if (wrong := tables.difference(connection) or tables.damage(connection)) is not None:
            raise BrokenError(wrong)
        if (wrong := tables.odd_value(connection)) is not None:
            raise BrokenError(wrong)
        end, limits = _end(connection), rows.read_limits(connection)
        demand_opening(connection, limits)  # first: to audit a plan that nobody made may take long
        _check_limits(limits)
        found = _parts(connection, limits, end, progress, crew)
        for task, part in found:
            right = (part.rows, part.hash) if task.of_rows else right
            if part.reason is not None:
                raise BrokenError(part.reason)
        _check_ends(connection, [part for _, part in found], end, kept)
    except (BrokenError, DamagedError) as error:
        return Checked(False, str(error), *right)
    except _BROKEN as error:
        return Checked(False, _line(error), *right)
    reason = f"{end.rows} rows, {end.users} users: every cost, sum and hash is right"
    open_ones: list[str] = []
    if prove is not None:
        from .proving import unproved, unproved_plans

        open_ones += unproved_plans(limits, prove)
        different = select(uses.c.mechanism, uses.c.costs).distinct()
        for mechanism, costs in sorted(map(tuple, connection.execute(different))):
            open_ones += unproved(limits, mechanism, costs, prove)
    return Checked(True, reason, end.rows, end.hash, tuple(open_ones))


def check_at(
    url: str,
    kept: str | None = None,
    timeout: float = 30,
    shown: Callable[[int], AbstractContextManager[Callable[[int], None]]] | None = None,
    prove: float | None = None,
    workers: int = 1,
    cluster: str | None = None,
) -> Checked:
    """Check the ledger at a URL, also one that is too broken to be opened.

    shown: given how many rows and users there are, what shows progress. workers: processes on this
    machine. cluster: a dask scheduler's address, or "local"; its workers must reach the URL. Raises
    ParameterError where there is no ledger at all.
    """
    database = Database(url, timeout, read_only=True)
    try:
        with database.read() as connection:
            found = set(inspect(connection).get_table_names())
            if not found & metadata.tables.keys():
                raise ParameterError(f"URL: there is no ledger at {database.shown!r}")
            if missing := metadata.tables.keys() - found:
                return Checked(False, f"tables are missing: {', '.join(sorted(missing))}", 0, "")
            crew = None
            if workers > 1 or cluster is not None:
                crew = _Crew(url, timeout, database.snapshot(connection), workers, cluster)
            if shown is None:
                return check(connection, kept, prove=prove, crew=crew)
            there = sum(_count(connection, select(table)) for table in (charges, users))
            with shown(there) as progress:
                return check(connection, kept, progress, prove, crew)
    finally:
        database.close()


def _end(connection: Connection) -> _End:
    """The end of the chain, and as many rows and users as it says."""
    versions = connection.execute(text("SELECT version_num FROM alembic_version"))
    if (found := versions.scalars().all()) != [REVISION]:
        raise BrokenError(f"alembic_version: {found} instead of {REVISION}")
    head = rows.read_head(connection)
    if head.id != 0:
        raise BrokenError("head: its number must be 0")
    if (count := _count(connection, select(charges))) != head.charges or count < 1:
        raise BrokenError(f"head: says {head.charges} rows, there are {count}")
    if (count := _count(connection, select(users))) != head.users:
        raise BrokenError(
            f"users: not numbered without a gap, up to how many the head says: {count}"
        )
    return _End(int(head.charges), int(head.users), head.at, head.neighbours, head.hash)


def _check_limits(limits: Sequence[Limit]) -> None:
    for limit in limits:
        if (doubt := limit.objection()) is not None:
            raise BrokenError(f"{called(limit.name)}: {doubt}")
    if not limits:
        raise BrokenError("limits: there is none")


def _parts(
    connection: Connection,
    limits: tuple[Limit, ...],
    end: _End,
    progress: Callable[[int], None],
    crew: _Crew | None,
) -> list[tuple[_Task, _Found]]:
    """What is found in every part, in order; up to the first that breaks, if we do it ourselves."""
    ranges = [(True, *part) for part in check_rows.stretches(connection, end.rows)]
    held = _count(connection, select(entries))
    ranges += [(False, *part) for part in check_users.parts(end.users, held)]
    tasks = [_Task(index, *part) for index, part in enumerate(ranges)]
    if crew is None:
        own = ((task.index, _found(connection, limits, end, task)) for task in tasks)
    found: dict[int, _Found] = {}
    for index, part in own if crew is None else crew.do(tasks, limits, end):
        task = tasks[index]
        found[index] = part or _found(connection, limits, end, task)
        progress(task.end - task.first)
        if crew is None and found[index].reason is not None:
            break
    return [(tasks[index], found[index]) for index in sorted(found)]


def _found(connection: Connection, limits: tuple[Limit, ...], end: _End, task: _Task) -> _Found:
    """A part, checked in this transaction."""
    if not task.of_rows:
        people = check_users.Users(connection, limits, task.first, task.end)
        reason = _broken(people.read)
        return _Found(reason, balances=people.balances)
    walk = check_rows.Rows(connection, limits, end.neighbours, task.first, task.end)
    if (reason := _broken(walk.read)) is not None and not reason.startswith("row"):
        reason = f"row {walk.row}: {reason}"
    return _Found(reason, walk.row, walk.hash, walk.at, walk.uses, walk.entries, opened=walk.opened)


def _broken(read: Callable[[], None]) -> str | None:
    try:
        read()
    except BrokenError as error:
        return str(error)
    except _BROKEN as error:
        return _line(error)
    return None


def _elsewhere(
    crew: _Crew, limits: tuple[Limit, ...], end: _End, task: _Task
) -> tuple[int, _Found | None]:
    """A part, checked by another process; None where it sees another state than we do."""
    database = Database(crew.url, crew.timeout, read_only=True)
    try:
        with database.read(crew.snapshot) as connection:
            head = rows.read_head(connection)
            same = (head.charges, head.hash) == (end.rows, end.hash)
            return task.index, _found(connection, limits, end, task) if same else None
    finally:
        database.close()


def _check_ends(
    connection: Connection, found: Sequence[_Found], end: _End, kept: str | None
) -> None:
    """The head is that of the chain, and nothing but what follows from it is in any table."""
    last = [part for part in found if part.rows][-1]
    if (last.rows, last.hash) != (end.rows, end.hash):
        raise BrokenError(f"head: says {end.rows} rows, the last {end.hash[:16]}...")
    if last.at != end.at or not (end.neighbours == "" or any(part.opened for part in found)):
        raise BrokenError("head: its time or neighbours are not those of the chain")
    for table in (uses, entries, balances):
        seen = sum(getattr(part, table.name) for part in found)
        if seen != _count(connection, select(table)):
            raise BrokenError(f"{table.name}: some follow from no charge")
    if connection.dialect.name == "postgresql":  # the rows themselves: an index may be damaged
        for way in ("indexscan", "indexonlyscan", "bitmapscan"):
            connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
    for table, names in ((users, ("name",)), (charges, ("key", "stage"))):
        different = select(*(table.c[name] for name in names)).distinct()
        if _count(connection, different) != _count(connection, select(table)):
            raise BrokenError(f"{table.name}: a {names[0]} is there twice")
    if kept is not None and not _count(connection, select(charges).where(charges.c.hash == kept)):
        raise BrokenError("the hash that was kept is not in the chain: its past was rewritten")


def _count(connection: Connection, asked: Select[Any]) -> int:
    return int(connection.execute(select(func.count()).select_from(asked.subquery())).scalar_one())


def _line(error: Exception) -> str:
    return f"cannot be read: {' '.join(str(error).split())[:200]}"
