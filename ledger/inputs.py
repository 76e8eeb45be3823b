"""What a ledger is given, read: names of users, keys, limits; and what time it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from ..exact import ParameterError
from ..verify.guarantee import Guarantee
from .limits import Limit

_LONGEST = 255
_MOST_USERS = 10**7


def read_text(value: object, name: str) -> str:
    """Printable text of 1 to 255 characters, taken as it is: no two spellings are the same."""
    if isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable():
        return value
    raise ParameterError(
        f"{name} must be printable text of 1 to {_LONGEST} characters, got {str(value)[:40]!r}"
    )


def read_users(value: str | Iterable[str]) -> list[str]:
    """The names of distinct users, sorted."""
    names = [value] if isinstance(value, str) else list(value)
    if not 0 < len(names) <= _MOST_USERS:
        raise ParameterError(f"users must be 1 to {_MOST_USERS} names, got {len(names)}")
    for name in names:
        read_text(name, "user")
    if len(set(names)) != len(names):
        raise ParameterError("users must be distinct: each is charged once")
    return sorted(names)


def read_digest(value: str) -> str:
    """A SHA-256 in hexadecimal digits, or nothing."""
    if value and not re.fullmatch("[0-9a-f]{64}", value):
        raise ParameterError("certificate must be a SHA-256: 64 hexadecimal digits, in lower case")
    return value


def read_limits(value: Limit | Guarantee | str | Sequence[Limit]) -> tuple[Limit, ...]:
    """At least one limit, of different names."""
    if isinstance(value, str | Guarantee):
        value = Limit.of(value)
    given = (value,) if isinstance(value, Limit) else tuple(value)
    names = [read_text(limit.name, "name of a limit") for limit in given]
    if not names or len(set(names)) != len(names):
        raise ParameterError("limits must be at least one, and of different names")
    for limit in given:
        if limit.project:
            read_text(limit.project, "project")
        if (doubt := limit.objection()) is not None:
            raise ParameterError(f"limit {limit.name}: {doubt}")
    return given


def now() -> str:
    """The time, as it stands in the database."""
    return _written(datetime.now(UTC))


def since(limit: Limit, at: str) -> str:
    """After when charges count towards this limit at that time; "" for all."""
    if limit.days is None:
        return ""
    then = datetime.fromisoformat(at)
    start = datetime.min.replace(tzinfo=UTC)
    days = timedelta(days=limit.days)
    return _written(then - days if then - start > days else start)


def _written(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond:06d}Z"
