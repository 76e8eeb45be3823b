"""What a ledger shows: entries and balances, as values that read as rows and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from attrs import frozen
from sqlalchemy import Connection, select

from ..exact import Enclosure
from . import amounts, rows
from .amounts import Amount
from .chain import CANCEL, CHARGE, OPEN, RESERVE, SETTLE
from .errors import DamagedError
from .head import read_head
from .inputs import now, since
from .limits import Limit
from .schema import charges, users, uses
from .schema import entries as listed
from .written import read_costs

_AT_ONCE = 10_000
_TEXTS = ("key", "name", "mechanism", "at", "hash", "project", "neighbours", "certificate")
STATES = {CHARGE: "charged", RESERVE: "reserved", SETTLE: "settled", CANCEL: "cancelled"}


@frozen
class Entry:
    """One mechanism that was charged to one user.

    key, user, project  names: the caller's of the charge, whose it is, and for what
    mechanism, times    as a spec, and how many uses
    costs               of all these, at each limit's levels
    at, hash            when, in UTC; of its row in the chain
    state               charged, reserved, settled or cancelled; only the last does not count
    neighbours          replace or add-remove
    certificate         SHA-256 of the one that came with it, or nothing

    >>> import tempfile
    >>> from exactdp.ledger import Ledger
    >>> with Ledger.create(tempfile.mkdtemp() + "/ledger.db", "pure:1") as ledger:
    ...     charged = ledger.charge("discrete-laplace:epsilon=0.1*3", ["ada"], key="one")
    ...     [(one.user, one.times, one.state) for one in ledger.entries()]
    [('ada', 3, 'charged')]
    """

    key: str
    user: str
    mechanism: str
    times: int
    costs: tuple[dict[str, Enclosure], ...]
    at: str
    hash: str
    state: str
    project: str
    neighbours: str
    certificate: str

    def to_json(self) -> dict[str, Any]:
        """As `exactdp ledger show --json` lists it; cost: of the first limit."""
        each = [_cost_json(costs) for costs in self.costs]
        shown = {
            "key": self.key,
            "user": self.user,
            "mechanism": self.mechanism,
            "times": self.times,
            "cost": each[0],
            "at": self.at,
            "hash": self.hash,
            "state": self.state,
            "neighbours": self.neighbours,
        }
        if len(each) > 1:
            shown["costs"] = each
        more = {"project": self.project, "certificate": self.certificate}
        return shown | {name: value for name, value in more.items() if value}


@frozen
class Balance:
    """What a user has spent of a limit, and what is left of it.

    In the number that the claim bounds: epsilon, rho, or mu^2.

    user, limit  whose, and of which limit
    spent        between two ends; the upper is what was charged
    charged      that, as an exact amount at each of the limit's levels

    >>> import tempfile
    >>> from exactdp.ledger import Ledger
    >>> with Ledger.create(tempfile.mkdtemp() + "/ledger.db", "pure:1") as ledger:
    ...     charged = ledger.charge("discrete-laplace:epsilon=0.1*3", ["ada"], key="one")
    ...     print(ledger.balance("ada").spent, ledger.balance("ada").left)
    0.3 0.7
    """

    user: str
    limit: Limit
    spent: Enclosure
    charged: tuple[Amount, ...]

    @property
    def left(self) -> Enclosure:
        """The limit less what was spent."""
        return self.spent.negated().plus(self.limit.amount)

    @property
    def rank(self) -> tuple[bool, Fraction]:
        """Larger where more is spent, in what is charged."""
        upper = self.spent.upper
        is_infinite = upper == Decimal("Infinity")
        return is_infinite, Fraction(0) if is_infinite else Fraction(upper)

    def to_json(self) -> dict[str, Any]:
        """As `exactdp ledger show --json` has it."""
        return {"user": self.user, "spent": self.spent.to_json(), "left": self.left.to_json()}


@frozen
class Overview:
    """What is in a ledger, without names: how many users have spent so much of each limit; how many
    entries and uses there are of each mechanism, by what became of them.
    """

    limits: tuple[Limit, ...]
    spent: tuple[Counter[Enclosure], ...]
    charged: dict[tuple[str, str], tuple[int, int]]


def overview(connection: Connection, limits: Sequence[Limit]) -> Overview:
    """Of all users and entries."""
    spent = (
        Counter(each.spent for each in balances(connection, number, limit, None))
        for number, limit in enumerate(limits)
    )
    charged: dict[tuple[str, str], tuple[int, int]] = {}
    for entry in entries(connection, limits):
        held, times = charged.get((entry.mechanism, entry.state), (0, 0))
        charged[entry.mechanism, entry.state] = held + 1, times + entry.times
    return Overview(tuple(limits), tuple(spent), charged)


def entries(
    connection: Connection, limits: Sequence[Limit], user: str | None = None
) -> Iterator[Entry]:
    """What was charged to whom, oldest first."""
    closing = charges.alias()
    closed = closing.c.action.label("closed")
    joined = (
        charges.join(uses, uses.c.charge == charges.c.id)
        .join(listed, listed.c.charge == charges.c.id)
        .join(users, users.c.id == listed.c.user)
        .outerjoin(closing, (closing.c.key == charges.c.key) & (closing.c.stage == 1))
    )
    asked = (
        select(charges, uses, users.c.name, closed)
        .select_from(joined)
        .where(charges.c.action != OPEN)
        .order_by(charges.c.id, uses.c.position, users.c.id)
    )
    if user is not None:
        asked = asked.where(users.c.name == user)
    for row in connection.execute(asked, execution_options={"yield_per": _AT_ONCE}):
        if not all(isinstance(getattr(row, name), str) for name in _TEXTS):
            raise DamagedError(f"row {row.id}: a value of it is of another type")
        yield Entry(
            row.key,
            row.name,
            row.mechanism,
            row.times,
            _costs(tuple(limits), row.costs, row.times),
            row.at,
            row.hash,
            STATES.get(row.closed or row.action, "unknown"),
            row.project,
            row.neighbours,
            row.certificate,
        )


def balances(
    connection: Connection, number: int, limit: Limit, names: Sequence[str] | None
) -> list[Balance]:
    """The balances of these users, or of all; what is not charged has spent nothing."""
    if names is None:
        everyone = connection.execute(select(users.c.name, users.c.id).order_by(users.c.id))
        known = {row.name: row.id for row in everyone}
    else:
        known = rows.numbers_of(connection, names)
    if not all(isinstance(name, str) for name in known):
        raise DamagedError("users: a name is of another type")
    window = since(limit, now())
    members = list(known.values())
    below, above = (
        rows.sums(connection, members, number, limit, window, up) for up in (False, True)
    )
    found = []
    for name in known if names is None else names:
        user = known.get(name, -1)
        lower, upper = below.get(user, limit.nothing), above.get(user, limit.nothing)
        found.append(Balance(name, limit, _report(limit, lower, upper), upper))
    return found


def summary(connection: Connection, limits: Sequence[Limit], user: str | None) -> dict[str, Any]:
    """Entries and balances of a user, or of all; spent and left of who has spent most."""
    names = None if user is None else [user]
    each = [balances(connection, number, limit, names) for number, limit in enumerate(limits)]
    nothing = limits[0].nothing
    nobody = Balance("", limits[0], _report(limits[0], nothing, nothing), nothing)
    dearest = max(each[0], key=lambda balance: balance.rank, default=nobody)
    people = [
        first.to_json()
        | ({"limits": [balance.to_json() for balance in every]} if len(limits) > 1 else {})
        for first, every in zip(each[0], zip(*each, strict=True), strict=True)
    ]
    return {
        "limit": str(limits[0].claim),
        "limits": [limit.to_json() for limit in limits],
        "users": people,
        "entries": [entry.to_json() for entry in entries(connection, limits, user)],
        "spent": dearest.spent.to_json(),
        "left": dearest.left.to_json(),
        "head": read_head(connection).hash,
    }


@lru_cache(maxsize=4096)
def _report(limit: Limit, lower: tuple[Amount, ...], upper: tuple[Amount, ...]) -> Enclosure:
    return limit.report(lower, upper)


@lru_cache(maxsize=4096)
def _costs(limits: tuple[Limit, ...], text: str, times: int) -> tuple[dict[str, Enclosure], ...]:
    return tuple(
        {
            level.title: amounts.enclosure(
                *(amounts.times(ends[up], times, up) for up in (False, True))
            )
            for level, ends in zip(limit.levels, costs, strict=True)
        }
        for limit, costs in zip(limits, read_costs(text), strict=True)
    )


def _cost_json(costs: dict[str, Enclosure]) -> dict[str, Any]:
    """One enclosure where there is one level, else one for each by its name."""
    if len(costs) == 1:
        return next(iter(costs.values())).to_json()
    return {title: cost.to_json() for title, cost in costs.items()}
