"""Whether a ledger is what it says: every cost, every sum and the chain of hashes, again.

Read from its first row to its last, a few thousand rows at a time: that rows are numbered without a
gap, that each hash covers what the row says and the hash before it, that reservations are closed
once, that the costs bound what its mechanisms cost, computed anew, that every balance is the sum of
what was charged and not cancelled, that it is within its limit (with a rolling window: at every
charge), and that there is no row in any table which does not follow.

*Costs.* What is recorded must not be below the enclosure that is computed now: then it is refuted;
and must not be below its upper end: then it is not proved. A version that measures more narrowly
than the one that charged finds more recorded than needed, which is sound.

*What it cannot see.* Who rewrites the whole chain from some row on, hashes, head, balances and all,
makes another ledger that is right in itself. Its head differs: keep `head` elsewhere, and pass it
here; it may also be that of an earlier row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import groupby
from typing import Any

from attrs import define, evolve, field, frozen
from sqlalchemy import Connection, Select, func, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from ..accounting.scenario import Use, neighbours
from ..exact import ParameterError
from . import amounts, canonical, rows
from .amounts import Amount
from .chain import CANCEL, CHARGE, NOTHING, OPEN, RESERVE, STAGES, Link, Used
from .database import Database
from .fitting import with_uses
from .inputs import read_digest, read_text, since
from .limits import Limit
from .schema import REVISION, balances, charges, entries, metadata, users, uses
from .written import read_costs, read_spent

_AT_ONCE = 5_000
_OFTEN = 1_000  # rows between two reports of progress


@frozen
class Checked:
    """Whether a ledger is right, why not, how many rows its chain has, and its last hash.

    unproved: which costs the checker of certificates could not establish, where it was asked.
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


class BrokenError(Exception):
    """Where it breaks, and how."""


def check(
    connection: Connection,
    kept: str | None = None,
    progress: Callable[[int], None] = lambda more: None,
    prove: float | None = None,
) -> Checked:
    """Check all of a ledger, in one transaction. kept: a hash that must be in its chain.

    progress: is told from time to time how many rows more are done. prove: how many seconds the
    checker of certificates may take to prove each cost too; None: it is not asked.
    """
    reader = _Reader(connection, kept)
    try:
        reader.read(progress)
    except BrokenError as error:
        return Checked(False, str(error), reader.row, reader.hash)
    except (ValueError, TypeError, ArithmeticError, LookupError, SQLAlchemyError) as error:
        line = " ".join(str(error).split())[:200]
        return Checked(False, f"row {reader.row}: cannot be read: {line}", reader.row, reader.hash)
    reason = f"{reader.row} rows, {len(reader.names)} users: every cost, sum and hash is right"
    open_ones: list[str] = []
    if prove is not None:
        from .proving import unproved

        for mechanism, costs in sorted(reader.costs):
            open_ones += unproved(reader.limits, mechanism, costs, prove)
    return Checked(True, reason, reader.row, reader.hash, tuple(open_ones))


def check_at(
    url: str,
    kept: str | None = None,
    timeout: float = 30,
    shown: Callable[[int], AbstractContextManager[Callable[[int], None]]] | None = None,
    prove: float | None = None,
) -> Checked:
    """Check the ledger at a URL, also one that is too broken to be opened.

    shown: given how many rows there are, what shows progress. Raises ParameterError where there is
    no ledger at all.
    """
    database = Database(url, timeout, read_only=True)
    try:
        with database.read() as connection:
            tables = set(inspect(connection).get_table_names())
            if not tables & metadata.tables.keys():
                raise ParameterError(f"URL: there is no ledger at {url!r}")
            if missing := metadata.tables.keys() - tables:
                return Checked(False, f"tables are missing: {', '.join(sorted(missing))}", 0, "")
            if shown is None:
                return check(connection, kept, prove=prove)
            rows_there = connection.execute(select(func.count()).select_from(charges))
            with shown(rows_there.scalar_one()) as progress:
                return check(connection, kept, progress, prove)
    finally:
        database.close()


@define
class _Reader:
    """A walk along the chain, and what follows from it."""

    connection: Connection
    kept: str | None
    row: int = 0
    hash: str = NOTHING
    limits: tuple[Limit, ...] = ()
    names: dict[int, str] = field(factory=dict)
    seen: set[int] = field(factory=set)  # users who were charged
    spent: dict[tuple[int, int], tuple[Amount, ...]] = field(factory=dict)
    recent: dict[tuple[int, int], deque[tuple[str, Sequence[Used]]]] = field(factory=dict)
    reserved: dict[str, str] = field(factory=dict)  # key -> the state that a closing row would find
    costs: set[tuple[str, str]] = field(factory=set)  # of mechanisms, as they are written
    at: str = ""
    way: str = ""

    def read(self, progress: Callable[[int], None]) -> None:
        """Raises BrokenError where it breaks."""
        end = self._end()
        self.limits = rows.read_limits(self.connection)
        listed = [tuple(row) for row in self._stream(select(users).order_by(users.c.id))]
        if [number for number, _ in listed] != list(range(end.users)):
            raise BrokenError("users: not numbered without a gap, up to how many the head says")
        self.names = dict(listed)
        cancelled = set(
            self.connection.execute(select(charges.c.key).where(charges.c.action == CANCEL))
            .scalars()
            .all()
        )
        found_kept = self.kept is None
        for link, digest in self._links():
            if link.id != self.row:
                raise BrokenError(f"row {self.row}: missing, or out of order")
            self.hash = self._checked(link, digest, link.key in cancelled)
            found_kept = found_kept or self.kept == self.hash
            self.row += 1
            if self.row % _OFTEN == 0:
                progress(_OFTEN)
        if (self.row, self.hash) != (end.charges, end.hash):
            raise BrokenError(f"head: says {end.charges} rows, the last {end.hash[:16]}...")
        if (self.at, self.way) != (end.at, end.neighbours):
            raise BrokenError("head: its time or neighbours are not those of the chain")
        if not found_kept:
            raise BrokenError("the hash that was kept is not in the chain: its past was rewritten")
        self._follow()

    def _end(self) -> Any:
        versions = self.connection.execute(text("SELECT version_num FROM alembic_version"))
        if (found := versions.scalars().all()) != [REVISION]:
            raise BrokenError(f"alembic_version: {found} instead of {REVISION}")
        end = rows.read_head(self.connection)
        if end.id != 0:
            raise BrokenError("head: its number must be 0")
        return end

    def _checked(self, link: Link, digest: str, is_cancelled: bool) -> str:
        """A row that is as it should be: its hash."""
        where = f"row {link.id} (key {link.key[:40]!r})"
        if link.id == 0:
            link = evolve(link, limits=self.limits)
        if link.hash(self.hash) != digest:
            raise BrokenError(f"{where}: its hash is not that of what it says")
        if link.at < self.at:
            raise BrokenError(f"{where}: is older than the row before")
        self.at = link.at
        if link.stage != STAGES.get(link.action) or (link.action == OPEN) != (link.id == 0):
            raise BrokenError(f"{where}: no row can be of {link.action[:20]!r} here")
        if link.action == OPEN:
            self._check_limits()
        elif link.action in (CHARGE, RESERVE):
            self._check_opening(link, where)
            if not is_cancelled:
                self._charge(link, where)
        else:
            if self.reserved.pop(link.key, None) != RESERVE or link.uses or link.users:
                raise BrokenError(f"{where}: closes what is not reserved")
        return digest

    def _check_limits(self) -> None:
        for limit in self.limits:
            if (doubt := limit.objection()) is not None:
                raise BrokenError(f"limit {limit.name}: {doubt}")
        if not self.limits:
            raise BrokenError("limits: there is none")

    def _check_opening(self, link: Link, where: str) -> None:
        read_text(link.key, "key")
        read_digest(link.certificate)
        if not link.uses or not link.users:
            raise BrokenError(f"{where}: charges nothing or nobody")
        self.way = self.way or link.neighbours
        if link.neighbours != self.way:
            raise BrokenError(f"{where}: neighbours {link.neighbours}, not {self.way}")
        for use in link.uses:
            self.costs.add((use.mechanism, use.costs))
            doubt = _doubt(self.limits, use.mechanism, use.costs, link.neighbours)
            if doubt is None and (type(use.times) is not int or use.times < 1):
                doubt = "is used less than once"
            if doubt is not None:
                raise BrokenError(f"{where}: {use.mechanism[:60]} {doubt}")
        if link.action == RESERVE:
            self.reserved[link.key] = RESERVE

    def _charge(self, link: Link, where: str) -> None:
        for number, limit in enumerate(self.limits):
            if limit.project not in ("", link.project):
                continue
            start = since(limit, link.at)
            for user in link.numbers:
                if limit.days is None:
                    before = self.spent.get((user, number), limit.nothing)
                    spent = _added(before, tuple(link.uses), number)
                    self.spent[user, number] = spent
                else:
                    spent = self._in_window(link, user, number, limit, start)
                if not limit.fits(spent):
                    name = self.names.get(user, "?")
                    raise BrokenError(f"{where}: user {name!r} exceeds limit {limit.name}")
        self.seen.update(link.numbers)

    def _in_window(
        self, link: Link, user: int, number: int, limit: Limit, start: str
    ) -> tuple[Amount, ...]:
        held = self.recent.setdefault((user, number), deque())
        while held and held[0][0] <= start:
            held.popleft()
        held.append((link.at, link.uses))
        spent = limit.nothing
        for _, listed in held:
            spent = _added(spent, tuple(listed), number)
        return spent

    def _follow(self) -> None:
        """Nothing but what follows from the chain is in the other tables."""
        listed = 0
        for user, limit, spent in self._stream(select(balances)):
            if self.spent.get((user, limit), self._nothing(user, limit)) != read_spent(spent):
                name = self.names.get(user, "?")
                raise BrokenError(f"balances: user {name!r}, limit {limit}: not what was charged")
            listed += (user, limit) in self.spent
        if listed != len(self.spent):
            raise BrokenError("balances: some are missing")
        for table in (entries, uses):
            opened = charges.c.action.in_((CHARGE, RESERVE))
            known = table.join(charges, charges.c.id == table.c.charge)
            asked = select(func.count()).select_from(known).where(opened)
            every = select(func.count()).select_from(table)
            if self._count(asked) != self._count(every):
                raise BrokenError(f"{table.name}: some are of no charge")
        idle = (
            select(func.count())
            .select_from(users)
            .where(~select(entries.c.user).where(entries.c.user == users.c.id).exists())
        )
        if self._count(idle):
            raise BrokenError("users: some were never charged")

    def _nothing(self, user: int, limit: int) -> tuple[Amount, ...] | None:
        """The balance of who is charged for nothing but what was cancelled."""
        known = user in self.names and 0 <= limit < len(self.limits)
        return self.limits[limit].nothing if known and self.limits[limit].days is None else None

    def _count(self, asked: Select[Any]) -> int:
        return int(self.connection.execute(asked).scalar_one())

    def _links(self) -> Iterator[tuple[Link, str]]:
        """The rows of the chain, each with what it uses and whom it charges."""
        used = _Grouped(self._stream(select(uses).order_by(uses.c.charge, uses.c.position)))
        charged = _Grouped(self._stream(select(entries).order_by(entries.c.charge, entries.c.user)))
        for row in self._stream(select(charges).order_by(charges.c.id)):
            listed = used.of(row.id)
            if [use.position for use in listed] != list(range(len(listed))):
                raise BrokenError(f"row {row.id}: what it uses is not numbered without a gap")
            numbers = [entry.user for entry in charged.of(row.id)]
            link = Link(
                row.id,
                row.action,
                row.key,
                row.stage,
                row.project,
                row.neighbours,
                row.certificate,
                row.at,
                [Used(use.mechanism, use.times, use.costs) for use in listed],
                sorted(self.names[number] for number in numbers),
                numbers=numbers,
            )
            yield link, row.hash

    def _stream(self, asked: Select[Any]) -> Iterator[Any]:
        yield from self.connection.execute(asked, execution_options={"yield_per": _AT_ONCE})


class _Grouped:
    """Rows in the order of their charge, taken charge by charge."""

    def __init__(self, listed: Iterator[Any]) -> None:
        self._groups = groupby(listed, key=lambda row: row.charge)
        self._next: tuple[int, list[Any]] | None = None

    def of(self, charge: int) -> list[Any]:
        """The rows of this charge; those of an earlier one are of none."""
        if self._next is None:
            group = next(self._groups, None)
            if group is None:
                return []
            self._next = group[0], list(group[1])
        if self._next[0] < charge:
            raise BrokenError(f"row {self._next[0]}: rows of a charge that is missing")
        if self._next[0] > charge:
            return []
        found, self._next = self._next[1], None
        return found


@lru_cache(maxsize=1 << 14)
def _added(spent: tuple[Amount, ...], listed: tuple[Used, ...], number: int) -> tuple[Amount, ...]:
    return with_uses(spent, listed, number)


@lru_cache(maxsize=4096)
def _doubt(limits: tuple[Limit, ...], mechanism: str, costs: str, way: str) -> str | None:
    """Why this is not what one use of the mechanism costs; None where it is."""
    try:
        one = canonical.read(mechanism)
    except ParameterError as error:
        return f"is no mechanism: {error}"
    if neighbours([Use(one, 1)]) != way:
        return f"is not for neighbours {way}"
    for limit, recorded in zip(limits, read_costs(costs), strict=True):
        computed = limit.costs(one)
        for level, cost, (lower, upper) in zip(limit.levels, computed, recorded, strict=True):
            charged = amounts.enclosure(lower, upper)
            if cost.greater_than(charged.upper) is True:
                return f"costs more {level.title} than is recorded"
            if cost.less_than(charged.lower) is True:
                return f"costs less {level.title} than is recorded"
            if cost.at_most(charged.upper) is not True:
                return f"cannot be shown to cost no more {level.title} than is recorded"
    return None
