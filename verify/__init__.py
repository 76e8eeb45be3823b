"""Whether a claim about a mechanism is true: verdicts with evidence."""

from .audit import Audit, Verdict, audit
from .calibration import Calibration, Family, calibrate
from .claim import ZCDP, ApproxDP, Claim, PureDP, RenyiDP, parse_claim
from .witness import Witness

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Audit",
    "Calibration",
    "Claim",
    "Family",
    "PureDP",
    "RenyiDP",
    "Verdict",
    "Witness",
    "audit",
    "calibrate",
    "parse_claim",
]
