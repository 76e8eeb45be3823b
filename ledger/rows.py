"""What is asked of the tables and written into them, many rows at once, inside a transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from ..exact import ParameterError
from ..verify.guarantee import parse_claim
from . import files
from .amounts import Amount
from .chain import CANCEL, CHARGE, OPEN, RESERVE, Link, Used
from .errors import DamagedError
from .fitting import with_uses
from .levels import Level
from .limits import Limit
from .names import spellings
from .schema import balances, charges, entries, head, limits, users, uses

_MANY = 5_000  # values in one statement

# What every charge asks and writes, built once.
_OF_KEY = (
    select(charges)
    .where(charges.c.key == bindparam("asked"), charges.c.action != OPEN)
    .order_by(charges.c.stage)
)
_USES_OF = (
    select(uses.c.mechanism, uses.c.times, uses.c.costs)
    .where(uses.c.charge == bindparam("asked"))
    .order_by(uses.c.position)
)
_NUMBERS = select(users.c.name, users.c.id).where(
    users.c.name.in_(bindparam("asked", expanding=True))
)
_BALANCES_OF = select(balances).where(balances.c.user.in_(bindparam("asked", expanding=True)))
_BALANCE = (
    update(balances)
    .where(balances.c.user == bindparam("of"), balances.c.limit == bindparam("at"))
    .values(spent=bindparam("amount"))
)
_closing = charges.alias()
_cancelled = (
    select(_closing.c.id)
    .where(_closing.c.key == charges.c.key, _closing.c.action == CANCEL)
    .exists()
)
_CHARGED = (
    select(entries.c.user, uses.c.mechanism, uses.c.times, uses.c.costs)
    .select_from(
        entries.join(charges, charges.c.id == entries.c.charge).join(
            uses, uses.c.charge == charges.c.id
        )
    )
    .where(
        entries.c.user.in_(bindparam("asked", expanding=True)),
        charges.c.action.in_((CHARGE, RESERVE)),
        charges.c.at > bindparam("since"),
        ~_cancelled,
    )
    .order_by(charges.c.id, uses.c.position)
)
_CHARGED_OF = _CHARGED.where(charges.c.project == bindparam("of"))
_CHARGE, _USES, _USERS, _ENTRIES, _BALANCES = map(insert, (charges, uses, users, entries, balances))


def batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """All of these, as many at a time as one statement takes."""
    return (values[start : start + _MANY] for start in range(0, len(values), _MANY))


def read_limits(connection: Connection) -> tuple[Limit, ...]:
    """The limits of the ledger, in their order. Raises DamagedError for what are none."""
    found = connection.execute(select(limits).order_by(limits.c.id)).all()
    texts = ("name", "claim", "levels", "project")
    if not all(isinstance(getattr(row, name), str) for row in found for name in texts):
        raise DamagedError("limits: a value of it is of another type")
    try:
        given = tuple(
            Limit(
                parse_claim(row.claim),
                tuple(map(Level.from_text, row.levels.split(" "))),
                row.name,
                row.days or None,
                row.project,
            )
            for row in found
        )
    except (ParameterError, TypeError) as error:
        raise DamagedError(f"limits: {error}") from error
    if [tuple(row) for row in found] != [tuple(row.values()) for row in _limit_rows(given)]:
        raise DamagedError("limits: do not stand in their table as they were written")
    return given


def write_limits(connection: Connection, given: Sequence[Limit]) -> None:
    """The limits of a new ledger."""
    connection.execute(insert(limits), _limit_rows(given))


def _limit_rows(given: Sequence[Limit]) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "name": limit.name,
            "claim": str(limit.claim),
            "levels": " ".join(level.to_text() for level in limit.levels),
            "days": limit.days or 0,
            "project": limit.project,
        }
        for number, limit in enumerate(given)
    ]


def write_link(connection: Connection, link: Link, digest: str, members: int) -> None:
    """A row of the chain, with what it uses, and the head that follows."""
    names = ("id", "action", "key", "stage", "project", "neighbours", "certificate", "at")
    row = {name: getattr(link, name) for name in names}
    connection.execute(_CHARGE, [row | {"hash": digest}])
    if connection.dialect.name == "sqlite":
        for name, number in zip(files.MARKS, files.mark_of(digest), strict=True):
            connection.exec_driver_sql(f"PRAGMA {name}={number}")
    if link.uses:
        listed = [
            {
                "charge": link.id,
                "position": position,
                "mechanism": each.mechanism,
                "times": each.times,
                "costs": each.costs,
            }
            for position, each in enumerate(link.uses)
        ]
        connection.execute(_USES, listed)
    now = {"charges": link.id + 1, "users": members, "at": link.at, "hash": digest}
    now |= {"neighbours": link.neighbours} if link.uses else {}
    if link.action == OPEN:
        connection.execute(insert(head), [{"id": 0, "neighbours": ""} | now])
    else:
        connection.execute(update(head).where(head.c.id == 0), now)


def read_head(connection: Connection) -> Row[Any]:
    """The end of the chain. Raises DamagedError where it is not one row."""
    listed = connection.execute(select(head)).all()
    if len(listed) != 1:
        raise DamagedError(f"head: must be one row, there are {len(listed)}")
    return listed[0]


def first_hash(connection: Connection) -> str:
    """The hash of the row that opens the ledger."""
    return str(connection.execute(select(charges.c.hash).where(charges.c.id == 0)).scalar_one())


def of_key(connection: Connection, key: str) -> list[Row[Any]]:
    """What opened this key, and what closed it, as far as there is such a row."""
    return list(connection.execute(_OF_KEY, {"asked": key}).all())


def uses_of(connection: Connection, charge: int) -> list[Used]:
    """What a charge uses."""
    return [_used(*row) for row in connection.execute(_USES_OF, {"asked": charge}).all()]


def _used(mechanism: object, times: object, costs: object) -> Used:
    if not isinstance(mechanism, str) or not isinstance(costs, str) or type(times) is not int:
        raise DamagedError("uses: a value of it is of another type")
    if times < 1:
        raise DamagedError("uses: a mechanism is used less than once")
    return Used(mechanism, times, costs)


def users_of(connection: Connection, charge: int) -> dict[str, int]:
    """Who was charged: names and numbers, by name."""
    joined = entries.join(users, users.c.id == entries.c.user)
    asked = select(users.c.name, users.c.id).select_from(joined).where(entries.c.charge == charge)
    return dict(sorted((name, number) for name, number in connection.execute(asked).all()))


def numbers_of(connection: Connection, names: Sequence[str]) -> dict[str, int]:
    """The numbers of the users that are known."""
    found: dict[str, int] = {}
    for some in batches(names):
        listed = connection.execute(_NUMBERS, {"asked": some}).all()
        found |= {name: number for name, number in listed}  # noqa: C416  # rows are no pairs to mypy
    return found


def held_names(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """Of these names those that the ledger has, in whichever spelling, as they stand there."""
    ways = {name: spellings(name) for name in names}
    held = numbers_of(connection, sorted({way for each in ways.values() for way in each}))
    found = {name: [way for way in each if way in held] for name, each in ways.items()}
    return {name: here[0] for name, here in found.items() if here}


def write_users(connection: Connection, made: Mapping[str, int]) -> None:
    """New users, with their numbers."""
    if made:
        rows = [{"id": number, "name": name} for name, number in made.items()]
        connection.execute(_USERS, rows)


def write_entries(connection: Connection, charge: int, members: Sequence[int]) -> None:
    """These users are charged."""
    connection.execute(_ENTRIES, [{"charge": charge, "user": user} for user in members])


def balances_of(connection: Connection, members: Sequence[int]) -> dict[tuple[int, int], str]:
    """The balances of these users, by user and limit."""
    found: dict[tuple[int, int], str] = {}
    for some in batches(members):
        listed = connection.execute(_BALANCES_OF, {"asked": some}).all()
        found |= {(user, limit): spent for user, limit, spent in listed}
    return found


def write_balances(
    connection: Connection,
    known: Mapping[tuple[int, int], str],
    now: Mapping[tuple[int, int], str],
) -> None:
    """What these users have spent now, where it changed; known: what the database holds."""
    new = [
        {"user": user, "limit": limit, "spent": spent}
        for (user, limit), spent in now.items()
        if (user, limit) not in known
    ]
    if new:
        connection.execute(_BALANCES, new)
    changed = [
        {"of": user, "at": limit, "amount": spent}
        for (user, limit), spent in now.items()
        if (user, limit) in known and known[user, limit] != spent
    ]
    if changed:
        connection.execute(_BALANCE, changed)


def sums(
    connection: Connection,
    members: Sequence[int],
    number: int,
    limit: Limit,
    since: str,
    up: bool = True,
) -> dict[int, tuple[Amount, ...]]:
    """What these users were charged of this limit after that time and was not cancelled."""
    spent = dict.fromkeys(members, limit.nothing)
    asked, given = _CHARGED, {"since": since}  # no time is before ""
    if limit.project:
        asked, given = _CHARGED_OF, given | {"of": limit.project}
    for some in batches(members):
        for user, *use in connection.execute(asked, {"asked": some} | given).all():
            spent[user] = with_uses(spent[user], [_used(*use)], number, up)
    return spent
