"""What every user has spent, kept and checked: a ledger in a database."""

from typing import TYPE_CHECKING

from ..exact.lazy import lazily

if TYPE_CHECKING:
    from .book import Ledger, Permit, Recorded
    from .checking import Checked
    from .errors import (
        DamagedError,
        KeyConflictError,
        LedgerError,
        RefusedError,
        ReplacedError,
        StateError,
        UnavailableError,
        UnknownKeyError,
        UsedKeyError,
    )
    from .limits import Limit
    from .reading import Balance, Entry

__all__ = ["Balance", "Checked", "DamagedError", "Entry", "KeyConflictError", "Ledger"]
__all__ += ["LedgerError", "Limit", "Permit", "Recorded", "RefusedError", "ReplacedError"]
__all__ += ["StateError", "UnavailableError", "UnknownKeyError", "UsedKeyError"]

__getattr__ = lazily(
    __name__,
    {
        ".book": ("Ledger", "Permit", "Recorded"),
        ".checking": ("Checked",),
        ".errors": (
            "DamagedError",
            "KeyConflictError",
            "LedgerError",
            "RefusedError",
            "ReplacedError",
            "StateError",
            "UnavailableError",
            "UnknownKeyError",
            "UsedKeyError",
        ),
        ".limits": ("Limit",),
        ".reading": ("Balance", "Entry"),
    },
)
