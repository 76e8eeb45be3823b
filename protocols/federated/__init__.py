"""A round of federated learning under secure aggregation: vectors, for NumPy and what speaks it.

`Encoding` is what a client does (`encode`) and what the server does (`decode`); any secure sum mod
2^bits may stand between them, as that of other frameworks. `run_round` plays a whole round here,
with masks and clients who vanish. What they cost in privacy is not said here but in `accounting`.
"""

from ...mechanisms.additive.coordinate_rounding import (
    Conditional,
    Nearest,
    Rounding,
    Stochastic,
    read_rounding,
)
from .encoder import Encoding
from .error import ErrorBound, error_bound
from .round import FederatedResult, run_round
from .settings import Settings

__all__ = ["Conditional", "Encoding", "ErrorBound", "FederatedResult", "Nearest", "Rounding"]
__all__ += ["Settings", "Stochastic", "error_bound", "read_rounding", "run_round"]
