"""Whether a claim about a mechanism is true: verdicts with evidence."""

from .audit import Audit, Verdict, audit
from .claim import ZCDP, ApproxDP, Claim, PureDP, RenyiDP, parse_claim
from .witness import Witness

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Audit",
    "Claim",
    "PureDP",
    "RenyiDP",
    "Verdict",
    "Witness",
    "audit",
    "parse_claim",
]
