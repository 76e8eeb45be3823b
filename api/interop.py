"""Other accountants: read what they were told, hand them what is certified, or stand in for one.

`register_opacus()` makes `PrivacyEngine(accountant="exactdp")` work; `flower` has what
Flower's clients and server need; `spec_from_tff` reads TensorFlow Federated's arguments; the
rest is `exactdp.accounting.interop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .accounting.interop import (
    UnsupportedEventError,
    flower,
    from_dp_event,
    from_json,
    from_opacus,
    rdp_epsilons,
    spec_from_params,
    spec_from_tff,
    to_dp_accounting,
    to_dp_event,
)
from .accounting.interop.opacus import opacus_accountant, register_opacus

if TYPE_CHECKING:
    from .accounting.interop.accountant import ExactAccountant

__all__ = ["UnsupportedEventError", "flower", "from_dp_event", "from_json", "from_opacus"]
__all__ += ["opacus_accountant", "rdp_epsilons", "register_opacus", "to_dp_accounting"]
__all__ += ["spec_from_params", "spec_from_tff", "to_dp_event"]
__all__ += ["ExactAccountant"]


def __getattr__(name: str) -> object:
    """`ExactAccountant` is a subclass of dp_accounting's, which is imported where it is asked for.

    Raises ImportError without dp_accounting.
    """
    if name == "ExactAccountant":
        from .accounting.interop.accountant import ExactAccountant

        return ExactAccountant
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
