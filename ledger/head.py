"""The head of a ledger: the end of its chain, and the lock of who writes.

A writer goes by it: what time it is at least, and the numbers of the next row and the next user. So
it is not taken at its word: the last row of the chain has the same time and hash, no user has a
number beyond, and what this process has seen before is in the chain still. Otherwise an older copy
of the ledger, or another one, was put in its place.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, bindparam, func, select

from .chain import NOTHING, OPEN, Link
from .errors import DamagedError, ReplacedError
from .limits import Limit
from .schema import charges, head, users

_MOST = 2**62
_LOCK = select(head).where(head.c.id == 0).with_for_update()
_ROW = select(charges.c.at, charges.c.hash).where(charges.c.id == bindparam("asked"))
_LAST_USER = select(func.max(users.c.id))
_OPENED = select(charges).where(charges.c.id == 0)


@frozen
class Head:
    """How many rows and users there are; the time and hash of the last row; all neighbours."""

    charges: int
    users: int
    at: str
    neighbours: str
    hash: str

    @staticmethod
    def of(row: Any) -> Head:
        """As the database has it. Raises DamagedError for what no ledger has."""
        numbers = row.charges, row.users
        if not all(type(one) is int and 0 <= one <= _MOST for one in numbers) or row.charges < 1:
            raise DamagedError("head: its numbers are not those of rows and users")
        if row.neighbours not in ("", "replace", "add-remove") or not _is_time(row.at):
            raise DamagedError("head: its time or neighbours are none")
        return Head(row.charges, row.users, row.at, row.neighbours, str(row.hash))


@frozen
class Seen:
    """A hash that is in the chain, and of which row."""

    row: int
    hash: str


def read_head(connection: Connection) -> Head:
    """The end of the chain."""
    return Head.of(_one(connection.execute(select(head).where(head.c.id == 0)).one_or_none()))


def locked_head(connection: Connection, seen: Seen) -> Head:
    """The same; whoever reads it so is the only writer until the transaction ends."""
    found = Head.of(_one(connection.execute(_LOCK).one_or_none()))
    earlier = connection.execute(_ROW, {"asked": seen.row}).one_or_none()
    if earlier is None or earlier.hash != seen.hash:
        raise ReplacedError(
            "another ledger, or an older copy, is in the place of the one that was opened: nothing "
            "is recorded; open it again"
        )
    last = connection.execute(_ROW, {"asked": found.charges - 1}).one_or_none()
    if last is None or (last.at, last.hash) != (found.at, found.hash):
        raise DamagedError("head: its time or hash is not that of the last row")
    if connection.execute(_LAST_USER).scalar_one() != (found.users - 1 if found.users else None):
        raise DamagedError("head: does not say how many users there are")
    return found


def demand_opening(connection: Connection, limits: tuple[Limit, ...]) -> None:
    """Raise DamagedError unless these are the limits that the first row was made with."""
    row = connection.execute(_OPENED).one_or_none()
    if row is not None:
        said = row.action, row.key, row.stage, row.project, row.neighbours, row.certificate, row.at
        link = Link(0, *said, (), (), limits)
        if row.action == OPEN and row.hash == link.hash(NOTHING):
            return
    raise DamagedError("row 0: its hash is not that of the limits")


def _one(row: Any) -> Any:
    if row is None:
        raise DamagedError("head: its row is missing")
    return row


def _is_time(text: object) -> bool:
    try:
        return datetime.fromisoformat(str(text)).strftime("%Y-%m-%dT%H:%M:%S.%fZ") == text
    except ValueError:
        return False
