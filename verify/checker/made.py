"""Who made a certificate, when, and what they noted: held by the digest, proved by nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .shape import CertificateError, read_fields

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.A)  # UTC, to the second
_LONGEST_NOTE, _LONGEST_NAME = 1000, 100  # characters
# What could make a line read as something else: controls, ends of lines, marks of direction.
_UNREADABLE = re.compile(
    "[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True)
class Made:
    """Who says so: the program and its version, when (UTC), and what they noted. Nothing proves it.

    at, note: empty where there is none.
    """

    by: str
    version: str
    at: str
    note: str


def read_made(fields: Mapping[str, Any]) -> Made:
    """Read the fields that the second version adds. Raises CertificateError for odd ones."""
    given = fields["made"]
    when = ("at",) if isinstance(given, dict) and "at" in given else ()
    made = read_fields(given, "made", "by", "version", *when)
    if not isinstance(fields["digest"], str) or not re.fullmatch("[0-9a-f]{64}", fields["digest"]):
        raise CertificateError("digest must be 64 hexadecimal digits, small letters")
    by, version = (_line(made[name], name, _LONGEST_NAME) for name in ("by", "version"))
    return Made(
        by,
        version,
        _time(made["at"]) if when else "",
        read_note(fields["note"]) if "note" in fields else "",
    )


def read_note(text: object) -> str:
    """Read what people noted: one line. Raises CertificateError for anything else."""
    return _line(text, "note", _LONGEST_NOTE)


def _line(text: object, name: str, most: int) -> str:
    if not isinstance(text, str) or not 1 <= len(text) <= most or _UNREADABLE.search(text):
        raise CertificateError(
            f"{name} must be one line of 1 to {most} characters, no control characters among them"
        )
    return text


def _time(text: object) -> str:
    wrong = CertificateError("at must be a time in UTC, to the second: 2026-01-31T23:59:59Z")
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        raise wrong
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise wrong from None
    return text
