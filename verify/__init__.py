"""Whether a claim about a mechanism is true: verdicts with evidence."""

from .audit import Audit, Verdict, audit
from .calibration import Calibration, Family, calibrate
from .claim import ZCDP, ApproxDP, Claim, PureDP, RenyiDP, parse_claim
from .protocol import certify
from .shuffle_noise import LeastNoiseBits, LeastRareBits, least_noise_bits, least_rare_bits
from .witness import Witness

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Audit",
    "Calibration",
    "Claim",
    "Family",
    "LeastNoiseBits",
    "LeastRareBits",
    "PureDP",
    "RenyiDP",
    "Verdict",
    "Witness",
    "audit",
    "calibrate",
    "certify",
    "least_noise_bits",
    "least_rare_bits",
    "parse_claim",
]
