"""Where a ledger is: a path or a URL, read; and shown without the passwords that are in it."""

from __future__ import annotations

import os
import re

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ..exact import ParameterError

_LONGEST = 100  # characters of what is shown
_USER = re.compile(r"(:/*[^:@]*:).*@", re.DOTALL)  # to the last @: passwords may have some
_PASSWORD = re.compile(r"([?&][^=&]*(?:password|secret|token)[^=&]*=)[^&]*", re.IGNORECASE)
HIDDEN = "***"


def read_address(given: str) -> URL:
    """A path, or a URL of SQLite or PostgreSQL. Raises ParameterError for anything else."""
    if not isinstance(given, str) or not given or not given.isprintable():
        raise ParameterError("URL must be a path or postgresql://..., in printable text")
    if given.endswith(":memory:"):
        raise ParameterError("URL must be a path: what is in memory alone would be lost")
    if "://" not in given:
        return URL.create("sqlite", database=os.path.abspath(given))
    try:
        url = make_url(given)
        name = url.get_backend_name()
    except (ArgumentError, ValueError):  # their messages may have all of it
        raise ParameterError(
            f"URL must be a path or postgresql://..., got {shown(given)!r}"
        ) from None
    if name == "sqlite" and url.database:
        if url.query or url.host:
            raise ParameterError(
                f"URL of SQLite must be sqlite:///PATH alone, got {shown(given)!r}"
            )
        return URL.create("sqlite", database=os.path.abspath(url.database))
    if "@" in (url.host or ""):  # what stands before it is part of a password
        raise ParameterError(f"URL must write @ in a password as %40, got {shown(given)!r}")
    if name in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise ParameterError(f"URL must be a path or postgresql://..., got {shown(given)!r}")


def shown(given: str) -> str:
    """As it may be printed: what may be a password is hidden, also where it cannot be read."""
    if "://" in given or given.startswith(("postgres", "sqlite:")):
        given = _PASSWORD.sub(rf"\1{HIDDEN}", _USER.sub(rf"\1{HIDDEN}@", given))
    return given if len(given) <= _LONGEST else f"{given[:_LONGEST]}..."


def without_secrets(line: str, url: URL) -> str:
    """What a database said, without the passwords of its URL."""
    named = (str(value) for key, value in url.query.items() if "password" in key.lower())
    for secret in filter(None, (str(url.password or ""), *named)):
        line = line.replace(secret, HIDDEN)
    return line
