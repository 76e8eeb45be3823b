"""What a ledger refuses, and what may go wrong with it."""

from __future__ import annotations

from typing import Any

from ..exact import Enclosure


def called(limit: str) -> str:
    """A limit in a sentence; the only one is called limit, and is the limit."""
    return f"the {limit}" if limit.partition(" ")[0] == "limit" else f"limit {limit}"


class LedgerError(Exception):
    """Anything that a ledger refuses or cannot do. Nothing was recorded, unless it says so."""


class RefusedError(LedgerError):
    """A charge that does not fit into what is left. Nothing was recorded for anyone.

    user: the one of whom least more fits, and who has least left of these; limit: the name of the
    limit; left: of it; fits: the largest number of times that the charge's list of mechanisms, each
    used once, still fits for all its users; refused: of how many users some limit would be
    exceeded.
    """

    def __init__(self, user: str, limit: str, left: Enclosure, fits: int, refused: int) -> None:
        self.user, self.limit, self.left, self.fits, self.refused = user, limit, left, fits, refused
        others = f" ({refused - 1} more users too)" if refused > 1 else ""
        super().__init__(
            f"refused: user {user!r}{others} would exceed {called(limit)}: left {left}; the "
            f"largest number of releases that still fits is {fits}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.user, self.limit, self.left, self.fits, self.refused)

    def to_json(self) -> dict[str, Any]:
        """As `exactdp ledger charge --json` has it."""
        left = self.left.to_json()
        return {"user": self.user, "limit": self.limit, "left": left, "fits": self.fits}


class KeyConflictError(LedgerError, ValueError):
    """The key is there already, with another charge."""


class UsedKeyError(LedgerError, ValueError):
    """The key has had its permit: whatever it was given for may have been released already."""


class UnknownKeyError(LedgerError, KeyError):
    """There is no such key."""

    def __str__(self) -> str:
        return str(self.args[0])


class StateError(LedgerError, ValueError):
    """What was settled cannot be cancelled, nor the other way round."""


class UnavailableError(LedgerError, OSError):
    """The database is away, busy for too long, full or damaged.

    If the connection was lost while a charge was being recorded, it may be recorded or not: the
    same charge with the same key is safe to repeat.
    """


class DamagedError(UnavailableError):
    """What is in the database is no ledger, or not as it was written: `exactdp ledger check`."""


class ReplacedError(UnavailableError):
    """The ledger that was opened is not there any more: another stands in its place, or none.

    Nothing was recorded. Open it again, once what is there now is right.
    """


class BrokenError(Exception):
    """Where a ledger that is checked breaks, and how."""
