"""Records with a head in `exactdp check`: transcripts of bandits, and ledgers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..common.regular_file import open_regular
from ..exact import ParameterError
from ..ledger.errors import LedgerError, UnavailableError
from . import output

_SQLITE = b"SQLite format 3\0"
_WAIT = 30.0  # seconds for other writers
_Found = tuple[dict[str, Any], list[str], int]  # as JSON, as text, the exit code


def is_transcript(name: str) -> bool:
    """Does the file begin as a transcript? Told here, since the bandit takes long to load."""
    return b"exactdp bandit transcript" in _begins(name)


def is_ledger(name: str) -> bool:
    """Is it the URL of a database, or a file that is one?"""
    return "://" in name or _begins(name).startswith(_SQLITE)


def named(file: str) -> str:
    """A file as output names it: without the password of a URL."""
    if "://" not in file:
        return file
    from ..ledger.address import shown

    return shown(file)


def _begins(name: str) -> bytes:
    try:
        with open_regular(Path(name)) as opened:
            return opened.read(200)
    except OSError:
        return b""


def checked_transcript(name: str, head: str | None) -> _Found:
    """Whether every decision follows from what was released: as JSON, as text, the exit code."""
    from ..bandit.transcript_check import TranscriptError, check_transcript

    try:
        with output.working(f"checking {name}"):
            outcome = check_transcript(Path(name), head)
    except TranscriptError as error:
        raise ParameterError(f"FILE: {error}") from error
    lines = [f"{'valid' if outcome.valid else 'not valid'}: {outcome.reason}"]
    if outcome.about:
        about = outcome.about.items()
        lines.append(", ".join(f"{key} {'none' if val is None else val}" for key, val in about))
    lines.append(f"head: {outcome.head}")
    shown = {"valid": outcome.valid, "reason": outcome.reason, "head": outcome.head}
    shown |= outcome.about
    if outcome.unchecked:
        lines.append(f"not checked: {outcome.unchecked}")
        shown["not_checked"] = outcome.unchecked
    return shown, lines, 0 if outcome.valid else 1


def checked_ledger(url: str, head: str | None) -> _Found:
    """Whether its costs, sums and hashes are right: as JSON, as text, the exit code.

    head: a hash that was kept; a ledger in whose chain it is not is not valid.
    """
    from ..ledger.checking import check_at

    try:
        with output.working("checking the ledger"):
            outcome = check_at(url, head, _WAIT)
    except UnavailableError as error:
        raise ParameterError(f"URL: {error}") from error
    except LedgerError as error:
        raise ParameterError(str(error)) from error
    lines = [f"{'valid' if outcome.valid else 'not valid'}: {outcome.reason}"]
    lines.append(f"head: {outcome.head}")
    return outcome.to_json(), lines, 0 if outcome.valid else 1
