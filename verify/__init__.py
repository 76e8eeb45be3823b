"""Whether a claim about a mechanism is true: verdicts with evidence."""

from .audit import Audit, Verdict, audit
from .calibration import Calibration, Family, calibrate
from .claim import ZCDP, ApproxDP, Claim, PureDP, RenyiDP, parse_claim
from .protocol import certify
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
    "certify",
    "parse_claim",
]
