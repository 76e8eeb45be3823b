"""Whether a claim about a mechanism is true: verdicts with evidence."""

from .audit import Audit, Verdict, audit
from .calibration import Calibration, Edge, Family, UnfinishedError, calibrate
from .gaussian_order import gaussian_order
from .guarantee import ZCDP, ApproxDP, Claim, GaussianDP, Guarantee, PureDP, RenyiDP, parse_claim
from .order import FLIPS, Cover, Monotone
from .protocol import certify
from .shuffle_noise import LeastNoiseBits, LeastRareBits, least_noise_bits, least_rare_bits
from .witness import Witness

__all__ = [
    "FLIPS",
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
    "Monotone",
    "PureDP",
    "RenyiDP",
    "UnfinishedError",
    "Verdict",
    "Witness",
    "audit",
    "calibrate",
    "certify",
    "gaussian_order",
    "least_noise_bits",
    "least_rare_bits",
    "parse_claim",
]
