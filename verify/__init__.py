"""Whether a claim about a mechanism is true: verdicts with evidence.

Each name is imported when it is first asked for: `exactdp.verify.checker` must load without the
prover and all that it rests on, so that nothing of the package is imported here.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audit import Audit, Verdict, audit
    from .calibration import Calibration, Edge, Family, UnfinishedError, calibrate
    from .guarantee import (
        ZCDP,
        ApproxDP,
        Claim,
        GaussianDP,
        Guarantee,
        PureDP,
        RenyiDP,
        parse_claim,
    )
    from .monotone import Cover
    from .protocol import certify
    from .shuffle_noise import LeastNoiseBits, LeastRareBits, least_noise_bits, least_rare_bits
    from .witness import Witness

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Audit",
    "Calibration",
    "Claim",
    "Cover",
    "Edge",
    "Family",
    "GaussianDP",
    "Guarantee",
    "LeastNoiseBits",
    "LeastRareBits",
    "PureDP",
    "RenyiDP",
    "UnfinishedError",
    "Verdict",
    "Witness",
    "audit",
    "calibrate",
    "certify",
    "least_noise_bits",
    "least_rare_bits",
    "parse_claim",
]

_HOMES = {  # where each name is from
    ".audit": "Audit Verdict audit",
    ".calibration": "Calibration Edge Family UnfinishedError calibrate",
    ".guarantee": "ZCDP ApproxDP Claim GaussianDP Guarantee PureDP RenyiDP parse_claim",
    ".monotone": "Cover",
    ".protocol": "certify",
    ".shuffle_noise": "LeastNoiseBits LeastRareBits least_noise_bits least_rare_bits",
    ".witness": "Witness",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


class _Package(ModuleType):
    """This package. `audit` is its function, not the module.

    An import leaves each module that it has loaded in its package, under the module's name.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_HOME_OF[name], __name__), name)
        setattr(self, name, found)  # so that it is asked for once
        return found

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and name in _HOME_OF:
            value = getattr(value, name)
        super().__setattr__(name, value)


if not TYPE_CHECKING:
    sys.modules[__name__].__class__ = _Package
