"""What every user has spent, kept and checked: a ledger in a database."""

from ..exact.lazy import lazily

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
