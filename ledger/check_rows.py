"""A stretch of the chain, checked by itself: hashes, costs, and what opens and closes a key.

The row before it is taken at its word: it is the last of the stretch before, which is checked too.
So stretches may be checked in any order, and anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import groupby
from typing import Any

from attrs import define, evolve, field
from sqlalchemy import Connection, Select, func, select

from ..accounting.scenario import Use, neighbours
from ..exact import ParameterError
from . import amounts, canonical
from .chain import CHARGE, NOTHING, OPEN, RESERVE, STAGES, Link, Used
from .errors import BrokenError
from .inputs import read_digest, read_text
from .limits import Limit
from .schema import charges, entries, users, uses
from .written import read_costs

_AT_ONCE = 5_000
_MANY = 50_000  # entries in a stretch, about


def stretches(connection: Connection, end: int) -> Iterator[tuple[int, int]]:
    """Rows 0, ..., end - 1 of the chain, in stretches of about as many entries: first, end."""
    first = held = 0
    counted = (
        select(entries.c.charge, func.count())
        .where(entries.c.charge >= 0, entries.c.charge < end)
        .group_by(entries.c.charge)
        .order_by(entries.c.charge)
    )
    for charge, count in stream(connection, counted):
        held += count
        if held >= _MANY:
            yield first, int(charge) + 1
            first, held = int(charge) + 1, 0
    if first < end:
        yield first, end


def stream(connection: Connection, asked: Select[Any]) -> Iterator[Any]:
    """Rows, a few thousand at a time."""
    yield from connection.execute(asked, execution_options={"yield_per": _AT_ONCE})


@define
class Rows:
    """A walk along rows first, ..., end - 1. way: the neighbours of all that is charged.

    row, hash: how far it came, and the last hash that is right. uses, entries: how many belong to
    these rows.
    """

    connection: Connection
    limits: Sequence[Limit]
    way: str
    row: int
    end: int
    hash: str = NOTHING
    at: str = ""
    uses: int = 0
    entries: int = 0
    opened: bool = False  # is anything charged in these rows?
    _doubt: Callable[[str, str], str | None] = field(init=False)

    @_doubt.default
    def _remembered(self) -> Callable[[str, str], str | None]:
        return lru_cache(maxsize=4096)(partial(_doubt, tuple(self.limits), self.way))

    def read(self) -> None:
        """Raises BrokenError where it breaks."""
        if self.row > 0:
            asked = select(charges.c.hash, charges.c.at).where(charges.c.id == self.row - 1)
            if (before := self.connection.execute(asked).one_or_none()) is None:
                raise BrokenError(f"row {self.row - 1}: missing")
            self.hash, self.at = before
        for link, digest, earlier in self._links():
            if link.id != self.row:
                raise BrokenError(f"row {self.row}: missing, or out of order")
            self._check(link, digest, earlier)
            self.hash = digest
            self.row += 1
            self.uses += len(link.uses)
            self.entries += len(link.users)
        if self.row != self.end:
            raise BrokenError(f"row {self.row}: missing")

    def _check(self, link: Link, digest: str, earlier: str) -> None:
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
        if link.action in (CHARGE, RESERVE):
            self._check_opening(link, where)
        elif link.action != OPEN and (earlier != RESERVE or link.uses or link.users):
            raise BrokenError(f"{where}: closes what is not reserved")

    def _check_opening(self, link: Link, where: str) -> None:
        read_text(link.key, "key")
        read_digest(link.certificate)
        if not link.uses or not link.users:
            raise BrokenError(f"{where}: charges nothing or nobody")
        if link.neighbours != self.way:
            raise BrokenError(f"{where}: neighbours {link.neighbours}, not {self.way}")
        self.opened = True
        for use in link.uses:
            doubt = self._doubt(use.mechanism, use.costs)
            if doubt is None and (type(use.times) is not int or use.times < 1):
                doubt = "is used less than once"
            if doubt is not None:
                raise BrokenError(f"{where}: {use.mechanism[:60]} {doubt}")

    def _links(self) -> Iterator[tuple[Link, str, str]]:
        """Each row with what it uses and whom it charges, its hash, and what opened its key."""
        used = _Grouped(
            self._stream(select(uses).order_by(uses.c.charge, uses.c.position), uses.c.charge)
        )
        whom = (
            select(entries.c.charge, users.c.name)
            .join(users, users.c.id == entries.c.user)
            .order_by(entries.c.charge)
        )
        charged = _Grouped(self._stream(whom, entries.c.charge))
        opening = charges.alias()
        opened = (opening.c.key == charges.c.key) & (opening.c.stage == 0)
        before = opened & (opening.c.id < charges.c.id) & (charges.c.stage == 1)
        asked = (
            select(charges, opening.c.action.label("earlier"))
            .outerjoin(opening, before)
            .order_by(charges.c.id)
        )
        for row in self._stream(asked, charges.c.id):
            listed = used.of(row.id)
            if [use.position for use in listed] != list(range(len(listed))):
                raise BrokenError(f"row {row.id}: what it uses is not numbered without a gap")
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
                sorted(entry.name for entry in charged.of(row.id)),
            )
            yield link, row.hash, row.earlier

    def _stream(self, asked: Select[Any], number: Any) -> Iterator[Any]:
        return stream(self.connection, asked.where(number >= self.row, number < self.end))


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


def _doubt(limits: tuple[Limit, ...], way: str, mechanism: str, costs: str) -> str | None:
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
