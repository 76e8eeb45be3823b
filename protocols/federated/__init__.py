"""A round of federated learning under secure aggregation: vectors, for NumPy and what speaks it.

`Encoding` is what a client does (`encode`) and what the server does (`decode`); any secure sum mod
2^bits may stand between them, as that of other frameworks. `run_round` plays a whole round here,
with masks and clients who vanish. What they cost in privacy is not said here but in `accounting`.

>>> import numpy as np
>>> from exactdp.mechanisms import Skellam
>>> from exactdp.protocols.federated import Encoding
>>> from exactdp.mechanisms.samplers import SystemBits
>>> encoding = Encoding(clip=1, scale=256, dimension=3, bits=16, rounding="stochastic")
>>> message = encoding.encode(np.array([0.6, 0.0, -0.2]), SystemBits(), Skellam(variance=4))
>>> message.dtype, len(message), int(message.max()) < 2**16
(dtype('uint64'), 4, True)
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
