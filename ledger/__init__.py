"""What every user has spent, kept and checked: a ledger in a database."""

from typing import TYPE_CHECKING

from ..exact.lazy import lazily

if TYPE_CHECKING:
    from .book import Ledger, Permit, Recorded
    from .checking import Checked
    from .errors import (
        KeyConflictError,
        LedgerError,
        RefusedError,
        StateError,
        UnavailableError,
        UnknownKeyError,
        UsedKeyError,
    )
    from .limits import Limit
    from .reading import Balance, Entry

__all__ = ["Balance", "Checked", "Entry", "KeyConflictError", "Ledger", "LedgerError", "Limit"]
__all__ += ["Permit", "Recorded", "RefusedError", "StateError", "UnavailableError"]
__all__ += ["UnknownKeyError", "UsedKeyError"]

__getattr__ = lazily(
    __name__,
    {
        ".book": ("Ledger", "Permit", "Recorded"),
        ".checking": ("Checked",),
        ".errors": (
            "KeyConflictError",
            "LedgerError",
            "RefusedError",
            "StateError",
            "UnavailableError",
            "UnknownKeyError",
            "UsedKeyError",
        ),
        ".limits": ("Limit",),
        ".reading": ("Balance", "Entry"),
    },
)
