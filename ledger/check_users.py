"""The balances of some users, added up again from what each was charged, in its order.

Users are added up by themselves, so that any part of them may be checked anywhere, with the very
sums that were made when they were charged: also those that were rounded are the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from attrs import define
from sqlalchemy import Connection, func, or_, select

from .amounts import ZERO, Amount
from .chain import CANCEL, CHARGE, RESERVE
from .check_rows import stream
from .errors import BrokenError, called
from .fitting import with_uses
from .inputs import since
from .limits import Limit
from .schema import balances, charges, entries, users, uses
from .written import read_costs, read_spent

_MANY = 5_000  # users at a time, at most
_ENTRIES = 50_000  # of them, about


def parts(end: int, held: int) -> Iterator[tuple[int, int]]:
    """Users 0, ..., end - 1, who have so many entries, some at a time: first, end."""
    size = max(1, min(_MANY, _ENTRIES * end // max(held, 1)))
    return ((first, min(first + size, end)) for first in range(0, end, size))


@define
class Users:
    """Users first, ..., end - 1. balances: how many there are of them."""

    connection: Connection
    limits: Sequence[Limit]
    first: int
    end: int
    balances: int = 0

    def read(self) -> None:
        """Raises BrokenError where a user exceeds a limit, or a balance is not what was charged."""
        asked = select(users.c.id, users.c.name).order_by(users.c.id)
        listed = list(self._stream(asked, users.c.id))
        if [number for number, _ in listed] != list(range(self.first, self.end)):
            raise BrokenError("users: not numbered without a gap, up to how many the head says")
        self._check_charged()
        names = dict(map(tuple, listed))
        spent: dict[tuple[int, int], tuple[Amount, ...]] = {}
        charged = groupby(self._stream(_CHARGED, entries.c.user), key=lambda row: row.user)
        for user, own in charged:
            spent |= self._added_up(user, names.get(user, "?"), own)
        found = 0
        for user, limit, written in self._stream(select(balances), balances.c.user):
            where = f"balances: user {names.get(user, '?')!r}, limit number {limit}"
            try:
                told = read_spent(written)
            except ValueError as error:
                raise BrokenError(f"{where}: damaged: {error}") from error
            if spent.get((user, limit), self._nothing(limit)) != told:
                raise BrokenError(f"{where}: not what was charged")
            found += (user, limit) in spent
            self.balances += 1
        if found != len(spent):
            raise BrokenError("balances: some are missing")

    def _added_up(
        self, user: int, name: str, charged: Iterator[Any]
    ) -> dict[tuple[int, int], tuple[Amount, ...]]:
        """What a user has spent of each limit; within it after every charge."""
        spent: dict[int, tuple[Amount, ...]] = {}
        recent: dict[int, _Window] = {}
        for (charge, at, project), listed in groupby(charged, key=lambda row: row[1:4]):
            own = list(listed)
            for number, limit in enumerate(self.limits):
                if limit.project not in ("", project):
                    continue
                if limit.days is None:
                    total = with_uses(spent.get(number, limit.nothing), own, number)
                    spent[number] = total
                else:
                    window = recent.setdefault(number, _Window(number, len(limit.levels)))
                    window.add(at, own)
                    total = window.total(since(limit, at))
                if not limit.fits(total):
                    raise BrokenError(f"row {charge}: user {name!r} exceeds {called(limit.name)}")
        return {(user, number): total for number, total in spent.items()}

    def _check_charged(self) -> None:
        charged = select(entries.c.user).where(entries.c.user == users.c.id).exists()
        idle = select(func.count()).select_from(users).where(~charged)
        own = idle.where(users.c.id >= self.first, users.c.id < self.end)
        if self.connection.execute(own).scalar_one():
            raise BrokenError("users: some were never charged")

    def _nothing(self, limit: int) -> tuple[Amount, ...] | None:
        """The balance of who is charged for nothing but what was cancelled."""
        known = 0 <= limit < len(self.limits) and self.limits[limit].days is None
        return self.limits[limit].nothing if known else None

    def _stream(self, asked: Any, number: Any) -> Iterator[Any]:
        return stream(self.connection, asked.where(number >= self.first, number < self.end))


class _Window:
    """What is charged to a user in a rolling window, for a limit of so many levels.

    The sums are exact, so that what leaves the window is taken away again. They are at most those
    that were compared with the limit when each was charged, which may have been rounded up.
    """

    def __init__(self, number: int, levels: int) -> None:
        self._number = number
        self._held: deque[tuple[str, list[Amount]]] = deque()
        self._finite, self._infinite = [ZERO] * levels, [0] * levels

    def add(self, at: str, listed: Sequence[Any]) -> None:
        """A charge, later than those before."""
        for use in listed:
            costs = [cost for _, cost in read_costs(use.costs)[self._number]]
            own = [None if cost is None else cost * use.times for cost in costs]
            self._held.append((at, own))
            self._count(own, 1)

    def total(self, start: str) -> tuple[Amount, ...]:
        """What was charged after `start`; what was charged before is let go."""
        while self._held[0][0] <= start:
            self._count(self._held.popleft()[1], -1)
        pairs = zip(self._finite, self._infinite, strict=True)
        return tuple(None if infinite else finite for finite, infinite in pairs)

    def _count(self, own: Sequence[Amount], sign: int) -> None:
        for level, amount in enumerate(own):
            if amount is None:
                self._infinite[level] += sign
            else:
                self._finite[level] += sign * amount


_closing = charges.alias()
_cancelled = (_closing.c.key == charges.c.key) & (_closing.c.action == CANCEL)
_CHARGED = (
    select(
        entries.c.user,
        charges.c.id,
        charges.c.at,
        charges.c.project,
        uses.c.times,
        uses.c.costs,
    )
    .select_from(
        entries.join(charges, charges.c.id == entries.c.charge).join(
            uses, uses.c.charge == entries.c.charge
        )
    )
    .where(
        or_(
            charges.c.action == CHARGE,
            (charges.c.action == RESERVE) & ~select(_closing.c.id).where(_cancelled).exists(),
        )
    )
    .order_by(entries.c.user, entries.c.charge, uses.c.position)
)
