"""What a ledger is given, read: names of users, keys, limits; and what time it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from unicodedata import normalize

from ..exact import ExactInput, ParameterError, exact
from ..verify.guarantee import Guarantee
from .errors import called
from .limits import Limit
from .names import new_name, spellings

_LONGEST = 255
_MOST_USERS = 10**7
_LONGEST_WAIT = 10**6  # seconds


def read_text(value: object, name: str) -> str:
    """Printable text of 1 to 255 characters, taken as it is."""
    if isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable():
        return value
    raise ParameterError(
        f"{name} must be printable text of 1 to {_LONGEST} characters, got {str(value)[:40]!r}"
    )


def read_names(value: object) -> list[str]:
    """Names of users, in their order."""
    if not isinstance(value, str | Iterable):
        raise ParameterError(f"users must be names, got {str(value)[:40]!r}")
    names = [value] if isinstance(value, str) else value
    return [read_text(name, "user") for name in names]


def read_users(value: str | Iterable[str]) -> list[str]:
    """The names of distinct users, sorted."""
    names = read_names(value)
    if not 0 < len(names) <= _MOST_USERS:
        raise ParameterError(f"users must be 1 to {_MOST_USERS} names, got {len(names)}")
    if len({normalize("NFC", name) for name in names}) != len(names):
        raise ParameterError("users must be distinct: each is charged once")
    return sorted(names)


def read_project(value: object, limits: Sequence[Limit]) -> str:
    """A project as the limits name it, or as a new one is written; "" for none."""
    if value == "":
        return ""
    project = read_text(value, "project")
    named = {each for limit in limits for each in [limit.project] if each}
    same = (each for each in spellings(project) if each in named)
    return next(same, None) or new_name(project, "project")


def read_digest(value: str) -> str:
    """A SHA-256 in hexadecimal digits, or nothing."""
    if value != "" and not (isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value)):
        raise ParameterError("certificate must be a SHA-256: 64 hexadecimal digits, in lower case")
    return value


def read_limits(value: Limit | Guarantee | str | Sequence[Limit]) -> tuple[Limit, ...]:
    """At least one limit, of different names."""
    if isinstance(value, str | Guarantee):
        value = Limit.of(value)
    given = (value,) if isinstance(value, Limit) else value
    if not isinstance(given, Iterable) or not all(isinstance(one, Limit) for one in given):
        raise ParameterError(f"limits must be of the type Limit, got {str(value)[:40]!r}")
    names = [read_text(limit.name, "name of a limit") for limit in given]
    if not names or len(set(names)) != len(names):
        raise ParameterError("limits must be at least one, and of different names")
    for limit in given:
        if (
            limit.project
            and new_name(read_text(limit.project, "project"), "project") != limit.project
        ):
            raise ParameterError("project of a limit must be in Unicode's composed form (NFC)")
        if (doubt := limit.objection()) is not None:
            raise ParameterError(f"{called(limit.name)}: {doubt}")
    return tuple(given)


def read_timeout(value: ExactInput) -> float:
    """Seconds to wait for other writers."""
    return float(exact(value, "timeout", at_least=0, at_most=_LONGEST_WAIT))


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
