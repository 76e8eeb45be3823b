"""Audit: is a claim about a mechanism true? VERIFIED, REFUTED or UNDECIDED, never a guess."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from .. import accounting
from ..exact.enclosure import Enclosure
from ..exact.number import decimal_text
from ..exact.precision import CAP, WIDTH
from ..mechanisms.mechanism import Mechanism
from .claim import ApproxDP, Claim, PureDP, RenyiDP
from .witness import Witness, find_witness

__all__ = ["Audit", "Verdict", "audit"]

_NARROWER = Fraction(1, 10**12)  # each further attempt asks for this much less width
_ATTEMPTS = 4


class Verdict(Enum):
    """What is certain about a claim."""

    VERIFIED = "VERIFIED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True)
class Audit:
    """The verdict, and what was measured: the smallest number for which the claim would hold.

    witness: on REFUTED, where to look; None where only a proof about the tails refutes.
    note: anything that a reader must know besides.
    """

    mechanism: Mechanism
    claim: Claim
    verdict: Verdict
    measured: Enclosure
    witness: Witness | None = None
    note: str | None = None


def audit(mechanism: Mechanism, claim: Claim, width: Fraction = WIDTH, cap: int = CAP) -> Audit:
    """Decide the claim. Narrows what is measured until the claim lies outside of it.

    width: the relative width that `measured` is to have. cap: bits of precision allowed.
    """
    asked = width
    measured = _measure(mechanism, claim, asked, cap)
    for _ in range(_ATTEMPTS):
        if measured.at_most(claim.bound) is not None or not measured.is_within(asked):
            break
        asked *= _NARROWER
        measured = measured.intersection(_measure(mechanism, claim, asked, cap))
    answer = measured.at_most(claim.bound)
    if answer is None:
        note = (
            f"{decimal_text(claim.bound)} lies inside what is known of the true value, which "
            f"could not be enclosed more narrowly with {cap} bits"
        )
        return Audit(mechanism, claim, Verdict.UNDECIDED, measured, note=note)
    if answer:
        return Audit(mechanism, claim, Verdict.VERIFIED, measured)
    witness = find_witness(mechanism, claim, measured)
    remark = None if witness else "refuted by a proof about the tails: no single outcome is named"
    return Audit(mechanism, claim, Verdict.REFUTED, measured, witness, remark)


def _measure(mechanism: Mechanism, claim: Claim, width: Fraction, cap: int) -> Enclosure:
    if isinstance(claim, PureDP):
        return accounting.pure_epsilon(mechanism, width, cap)
    if isinstance(claim, ApproxDP):
        return accounting.epsilon(mechanism, claim.delta, width, cap)
    if isinstance(claim, RenyiDP):
        return accounting.renyi_divergence(mechanism, claim.order, width, cap)
    return accounting.zcdp(mechanism, width, cap)
