"""A ledger: what every user has spent, recorded before anything is released.

*Never overspent.* A writer holds the ledger's lock (`database`), reads the balances of all users
that it charges, adds the costs exactly (`amounts`) and goes on only if every balance is within
every limit (`limits`); rows and balances are written in the same transaction, or none are.

*A key is charged once.* It is looked up under the same lock. The same charge again records nothing
more; another one with its key is an error.

*Reserve, release, settle.* A reservation is durable before its permit is given, and counts as
spent: so does one whose fate is unknown. Its key gives no second permit: after a crash nobody knows
whether its randomness has been released. Only who knows that nothing was may cancel it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from attrs import evolve, frozen
from sqlalchemy import Connection

from ..accounting.scenario import Use, neighbours
from ..exact import ParameterError
from ..verify.guarantee import Guarantee
from . import amounts, canonical, rows
from .chain import CANCEL, CHARGE, NOTHING, OPEN, RESERVE, SETTLE, STAGES, Link, Used
from .checking import Checked, check
from .database import Database
from .errors import (
    KeyConflictError,
    RefusedError,
    StateError,
    UnavailableError,
    UnknownKeyError,
    UsedKeyError,
)
from .fitting import Refusal, refusal, tried
from .head import Head, Seen, demand_opening, locked_head, read_head
from .inputs import (
    now,
    read_digest,
    read_limits,
    read_names,
    read_project,
    read_text,
    read_users,
    since,
)
from .limits import Limit
from .names import is_plain, new_name
from .reading import Balance, Entry, Overview, balances, entries, overview, summary
from .written import costs_text, spent_text

_TRIES = 5
_TRANSIENT = ("deadlock", "could not serialize")  # PostgreSQL asks to begin again


@frozen
class Recorded:
    """A charge that is in the ledger.

    key     the caller's name of it
    action  what was recorded: a charge, a reservation, ...
    at      when, in UTC
    hash    of its row in the chain
    new     whether it was not there before

    >>> import tempfile
    >>> with Ledger.create(tempfile.mkdtemp() + "/ledger.db", "zcdp:1") as ledger:
    ...     for _ in range(2):
    ...         ledger.charge("discrete-gaussian:sigma2=100", ["ada"], key="monday").new
    True
    False
    """

    key: str
    action: str
    at: str
    hash: str
    new: bool


@frozen
class Permit:
    """Leave to release what was reserved, once. It counts as spent unless it is cancelled.

    ledger: where. key: of what was reserved.

    >>> import tempfile
    >>> with Ledger.create(tempfile.mkdtemp() + "/ledger.db", "pure:1") as ledger:
    ...     with ledger.permit("discrete-laplace:epsilon=0.1", ["ada"], key="one") as permit:
    ...         permit.settle()  # after the release
    ...     print(ledger.balance("ada").spent)
    0.1
    """

    ledger: Ledger
    key: str

    def settle(self) -> None:
        """It was released."""
        self.ledger.settle(self.key)

    def cancel(self) -> None:
        """Nothing was released, and nothing ever will be: what was reserved is free again."""
        self.ledger.cancel(self.key)


class Ledger:
    """What users have spent, in a database, and the limits that none of them may exceed.

    Open one with `Ledger.open(url)`, make one with `Ledger.create(url, limit)`: a path (SQLite) or
    postgresql://... . It is a context manager, and safe to share between threads and processes.
    Errors are LedgerErrors; bad input raises ParameterError.

    >>> import tempfile
    >>> url = tempfile.mkdtemp() + "/ledger.db"
    >>> with Ledger.create(url, "pure:1") as ledger:
    ...     ledger.charge("discrete-laplace:epsilon=0.1", ["ada"], key="one").new
    True
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.read() as connection:
            database.check_revision(connection)
            self.limits = rows.read_limits(connection)
            demand_opening(connection, self.limits)
            end = read_head(connection)
        self._seen = Seen(end.charges - 1, end.hash)

    @staticmethod
    def create(
        url: str,
        limit: Limit | Guarantee | str | Sequence[Limit],
        timeout: float = 30,
    ) -> Ledger:
        """A new ledger with this limit for every user, or with several, of different names.

        limit: "zcdp:RHO", "gdp:MU", "rdp:ORDER,EPSILON", "pure:EPSILON", "approx:EPSILON,DELTA", a
        guarantee, or `Limit`s. timeout: seconds to wait for other writers. Raises ParameterError
        where there is a ledger already.
        """
        given = read_limits(limit)
        database = Database(url, timeout, new=True)
        link = Link(0, OPEN, secrets.token_hex(16), 0, "", "", "", now(), limits=given)
        with database.write() as connection:
            if not database.is_sqlite:  # there is no head to lock yet
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7265)")
            if database.revision(connection) is not None:
                raise ParameterError(f"URL: there is a ledger already at {database.shown!r}")
            database.migrate(connection)
            rows.write_limits(connection, given)
            rows.write_link(connection, link, link.hash(NOTHING), 0)
        return Ledger(database)

    @staticmethod
    def open(url: str, timeout: float = 30, read_only: bool = False) -> Ledger:
        """The ledger at this URL. read_only: whatever is asked, nothing can be written."""
        return Ledger(Database(url, timeout, read_only))

    def close(self) -> None:
        """Close its connections; nothing is lost without it."""
        self._database.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def charge(
        self,
        released: object,
        users: str | Iterable[str],
        key: str,
        project: str = "",
        certificate: str = "",
    ) -> Recorded:
        """Charge all these users for what is released to them together, or none of them.

        released: a mechanism, SPEC*K, a composition, or a list of these. users: one name or many.
        key: of this charge alone; the same charge again records nothing more. certificate: the
        SHA-256 of a certificate that goes with it. Returns when it is durable.

        Raises RefusedError where a user would exceed a limit, KeyConflictError where the key is of
        another charge; nothing is recorded then.
        """
        link, new, digest = self._opened(CHARGE, released, users, key, project, certificate)
        return Recorded(key, CHARGE, link.at, digest, new)

    def reserve(
        self,
        released: object,
        users: str | Iterable[str],
        key: str,
        project: str = "",
        certificate: str = "",
    ) -> Permit:
        """As `charge`, before a release: a permit, which a key gets once.

        Raises UsedKeyError where the key has had its permit, whatever became of it.
        """
        _, new, _ = self._opened(RESERVE, released, users, key, project, certificate)
        if not new:
            raise UsedKeyError(
                f"key {key!r} has had its permit, and may have been released: take a new key"
            )
        return Permit(self, key)

    @contextmanager
    def permit(
        self,
        released: object,
        users: str | Iterable[str],
        key: str,
        project: str = "",
        certificate: str = "",
    ) -> Iterator[Permit]:
        """Reserve, run the block that releases, settle. After an error in it, it counts as spent.

        No random bit may be drawn before the block begins.
        """
        permit = self.reserve(released, users, key, project, certificate)
        yield permit
        with self._database.read() as connection:
            closed = len(rows.of_key(connection, key)) > 1  # cancelled in the block
        if not closed:
            permit.settle()

    def settle(self, key: str) -> None:
        """What was reserved with this key is released."""
        self._close(key, SETTLE)

    def cancel(self, key: str) -> None:
        """What was reserved with this key was not released, and never will be: it is free again.

        To be called only where that is certain: what was drawn and might be seen counts as spent.
        """
        self._close(key, CANCEL)

    def balance(self, user: str, limit: str | None = None) -> Balance:
        """What a user has spent, and has left, of a limit (by its name; the first if None)."""
        return self.balances([user], limit)[0]

    def balances(
        self, users: Sequence[str] | None = None, limit: str | None = None
    ) -> list[Balance]:
        """The balances of these users, or of all in the order in which they came."""
        names = [each.name for each in self.limits]
        if limit is not None and limit not in names:
            given = str(limit)[:40]
            raise ParameterError(f"limit must be one of {', '.join(names)}, got {given!r}")
        asked = None if users is None else read_names(users)
        number = 0 if limit is None else names.index(limit)
        with self._database.read() as connection:
            held = {} if asked is None else rows.held_names(connection, asked)
            own = None if asked is None else [held.get(name, name) for name in asked]
            return balances(connection, number, self.limits[number], own)

    def entries(self, user: str | None = None) -> Iterator[Entry]:
        """What was charged to whom, oldest first: a row for each charge, mechanism and user."""
        asked = None if user is None else read_text(user, "user")
        with self._database.read() as connection:
            yield from entries(connection, self.limits, _held(connection, asked))

    def summary(self, user: str | None = None) -> dict[str, Any]:
        """All that `exactdp ledger show --json` shows, of one moment."""
        asked = None if user is None else read_text(user, "user")
        with self._database.read() as connection:
            return summary(connection, self.limits, _held(connection, asked))

    def opening(self) -> str:
        """The hash of the first row, which no two ledgers share."""
        with self._database.read() as connection:
            return rows.first_hash(connection)

    def head(self) -> str:
        """The hash of the last row, which covers all before: keep it elsewhere."""
        with self._database.read() as connection:
            return read_head(connection).hash

    def check(
        self, head: str | None = None, progress: Callable[[int], None] = lambda more: None
    ) -> Checked:
        """Recompute every cost, every sum and every hash. See `checking`."""
        with self._database.read() as connection:
            return check(connection, head, progress)

    def overview(self) -> tuple[Checked, Overview | None]:
        """Check it, and what is in it, of one moment; None where it is not right."""
        with self._database.read() as connection:
            found = check(connection)
            return found, overview(connection, self.limits) if found.valid else None

    # -- how ----------------------------------------------------------------------------------

    def _opened(
        self,
        action: str,
        released: object,
        users: str | Iterable[str],
        key: str,
        project: str,
        certificate: str,
    ) -> tuple[Link, bool, str]:
        """The row that opens a key, whether it is new, and its hash."""
        used = canonical.uses_of(released)
        names = read_users(users)
        listed = [Used(text, count, self._costs(one)) for text, (one, count) in used.items()]
        wanted = Link(
            0,
            action,
            read_text(key, "key"),
            STAGES[action],
            read_project(project, self.limits),
            neighbours([Use(one, count) for one, count in used.values()]),
            read_digest(certificate),
            "",
            listed,
            names,
        )

        def record(connection: Connection) -> tuple[Link, bool, str]:
            end = locked_head(connection, self._seen)
            asked = evolve(wanted, users=_written_names(connection, names))
            if earlier := rows.of_key(connection, key):
                return _again(connection, earlier[0], asked)
            link = evolve(asked, id=end.charges, at=max(now(), end.at))
            return link, True, self._add(connection, link, end)

        found: tuple[Link, bool, str] = self._written(record)
        self._saw(found[0].id, found[2])
        return found

    def _saw(self, row: int, digest: str) -> None:
        """This row is durable: it will be in the chain."""
        if row > self._seen.row:
            self._seen = Seen(row, digest)

    def _costs(self, mechanism: Any) -> str:
        """What one use costs, at every level of every limit."""
        return costs_text(
            tuple(tuple(map(amounts.ends, limit.costs(mechanism))) for limit in self.limits)
        )

    def _add(self, connection: Connection, link: Link, end: Head) -> str:
        """Write a charge and the balances of its users, if all of them may; its hash."""
        if end.neighbours not in ("", link.neighbours):
            raise ParameterError(
                f"neighbours must be {end.neighbours}, as in all that was charged before, "
                f"got {link.neighbours}"
            )
        known = rows.numbers_of(connection, link.users)
        new = [name for name in link.users if name not in known]
        made = {name: end.users + position for position, name in enumerate(new)}
        members = known | made
        held = rows.balances_of(connection, list(known.values()))
        after = self._fitting(connection, link, members, held)
        digest = link.hash(end.hash)
        rows.write_link(connection, link, digest, end.users + len(new))
        rows.write_users(connection, made)
        rows.write_entries(connection, link.id, list(members.values()))
        rows.write_balances(connection, held, after)
        return digest

    def _fitting(
        self,
        connection: Connection,
        link: Link,
        members: Mapping[str, int],
        held: Mapping[tuple[int, int], str],
    ) -> dict[tuple[int, int], str]:
        """The balances after the charge. Raises RefusedError where one would exceed its limit."""
        after: dict[tuple[int, int], str] = {}
        refused: dict[str, Refusal] = {}
        for number, limit in enumerate(self.limits):
            if limit.project not in ("", link.project):
                continue
            if limit.days is None:
                nothing = spent_text(limit.nothing)
                before = {user: held.get((user, number), nothing) for user in members.values()}
            else:
                window = since(limit, link.at)
                sums = rows.sums(connection, list(members.values()), number, limit, window)
                before = {user: spent_text(spent) for user, spent in sums.items()}
            different = {text: tried(limit, number, text, link.uses) for text in {*before.values()}}
            no = {
                text: refusal(limit, number, text, link.uses)
                for text, fit in different.items()
                if not fit.fits
            }
            for name, user in members.items():
                if before[user] in no:
                    found = [no[before[user]], *([refused[name]] if name in refused else [])]
                    refused[name] = min(found, key=lambda each: each.rank)
                if limit.days is None:
                    after[user, number] = different[before[user]].spent
        if refused:
            name = min(refused, key=lambda name: refused[name].rank)
            worst = refused[name]
            raise RefusedError(name, worst.limit, worst.left, worst.most, len(refused))
        return after

    def _close(self, key: str, action: str) -> None:
        read_text(key, "key")

        def record(connection: Connection) -> tuple[int, str] | None:
            end = locked_head(connection, self._seen)
            if not (found := rows.of_key(connection, key)):
                raise UnknownKeyError(f"there is no charge with the key {key[:60]!r}")
            opened, *closed = found
            state = closed[0].action if closed else opened.action
            if state == action or (state == CHARGE and action == SETTLE):
                return None
            if state != RESERVE:
                raise StateError(f"key {key!r} is of what was {_WORDS[state]}: it stays so")
            at = max(now(), end.at)
            link = Link(end.charges, action, key, STAGES[action], "", "", "", at)
            digest = link.hash(end.hash)
            rows.write_link(connection, link, digest, end.users)
            if action == CANCEL:
                self._refold(connection, opened)
            return link.id, digest

        if (made := self._written(record)) is not None:
            self._saw(*made)

    def _refold(self, connection: Connection, opened: Any) -> None:
        """The balances of who was charged, added up again without what is cancelled."""
        members = list(rows.users_of(connection, opened.id).values())
        held = rows.balances_of(connection, members)
        after = {
            (user, number): spent_text(spent)
            for number, limit in enumerate(self.limits)
            if limit.days is None and limit.project in ("", opened.project)
            for user, spent in rows.sums(connection, members, number, limit, "").items()
        }
        rows.write_balances(connection, held, after)

    def _written(self, record: Callable[[Connection], Any]) -> Any:
        """In one transaction, again where the database asks to begin again."""
        for attempt in range(_TRIES):
            try:
                with self._database.write() as connection:
                    return record(connection)
            except UnavailableError as error:
                if attempt == _TRIES - 1 or not any(word in str(error) for word in _TRANSIENT):
                    raise
                time.sleep(0.05 * 2**attempt)
        raise AssertionError  # pragma: no cover


def _held(connection: Connection, user: str | None) -> str | None:
    """A user's name as the ledger has it, or as it is given."""
    return None if user is None else rows.held_names(connection, [user]).get(user, user)


def _written_names(connection: Connection, names: Sequence[str]) -> list[str]:
    """Names of users as the ledger has them, or as new ones are written, sorted."""
    odd = [name for name in names if not is_plain(name)]
    held = rows.held_names(connection, odd) if odd else {}
    new = {name: new_name(name, "user") for name in odd if name not in held}
    return sorted(held.get(name) or new.get(name) or name for name in names)


def _again(connection: Connection, earlier: Any, wanted: Link) -> tuple[Link, bool, str]:
    """What is recorded already with a key, if it is the same charge."""
    names = ("action", "project", "neighbours", "certificate")
    odd = [name for name in names if getattr(earlier, name) != getattr(wanted, name)]
    found = {each.mechanism: each.times for each in rows.uses_of(connection, earlier.id)}
    if found != {each.mechanism: each.times for each in wanted.uses}:
        odd.append("mechanism or times")
    if list(rows.users_of(connection, earlier.id)) != list(wanted.users):
        odd.append("users")
    if odd:
        raise KeyConflictError(
            f"key {wanted.key!r} is of another charge already, with another {', '.join(odd)}"
        )
    return evolve(wanted, id=earlier.id, at=earlier.at), False, str(earlier.hash)


_WORDS = {CHARGE: "charged", SETTLE: "settled", CANCEL: "cancelled"}
