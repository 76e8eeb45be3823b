"""Who made a certificate, when, and what they noted: held by the digest, proved by nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .shape import CertificateError, named, read_fields, read_readable

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.A)  # UTC, to the second
_LONGEST_NOTE, _LONGEST_NAME = 1000, 100  # characters


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
    made = read_fields(given, "made", "by", "version", *named(given, "at"))
    if not isinstance(fields["digest"], str) or not re.fullmatch("[0-9a-f]{64}", fields["digest"]):
        raise CertificateError("digest must be 64 hexadecimal digits, small letters")
    by, version = (read_readable(made[name], name, 1, _LONGEST_NAME) for name in ("by", "version"))
    at = _time(made["at"]) if "at" in made else ""
    return Made(by, version, at, read_note(fields["note"]) if "note" in fields else "")


def read_note(text: object) -> str:
    """Read what people noted: one line. Raises CertificateError for anything else."""
    return read_readable(text, "note", 1, _LONGEST_NOTE)


def _time(text: object) -> str:
    wrong = CertificateError("at must be a time in UTC, to the second: 2026-01-31T23:59:59Z")
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        raise wrong
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise wrong from None
    return text
