"""Figures that a command finds one after the other, in the time that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..exact import OutOfTimeError, is_over

LATE = "not all was found in the time allowed (--time S or --budget UNITS allows more)"

_Found = TypeVar("_Found")
_Nothing = TypeVar("_Nothing")


class Figures:
    """Each is found in the time that is left, or stands for what is known without.

    late: whether one of them was not found, or may have been cut short.
    """

    def __init__(self) -> None:
        self.late = False

    def find(self, compute: Callable[[], _Found], nothing: _Nothing) -> _Found | _Nothing:
        """What is computed; nothing, where the time ends first."""
        try:
            found = compute()
            self.late |= is_over()
            return found
        except OutOfTimeError:
            self.late = True
            return nothing

    @property
    def note(self) -> dict[str, Any]:
        """What must be said beside them, in tables and in JSON; empty if nothing."""
        return {"note": LATE} if self.late else {}

    @property
    def code(self) -> int:
        """The exit code."""
        return 3 if self.late else 0
