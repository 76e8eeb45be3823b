"""Audit: is a claim about a mechanism true? VERIFIED, REFUTED or UNDECIDED, never a guess."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from ..accounting.budget import Budget, compose
from ..exact.enclosure import Enclosure
from ..exact.number import decimal_text
from ..exact.precision import CAP, WIDTH
from ..mechanisms.mechanism import Mechanism
from .claim import ApproxDP, Claim, PureDP, RenyiDP
from .witness import Witness, find_witness

__all__ = ["Audit", "Verdict", "audit"]

_NARROWER = Fraction(1, 10**12)  # each further attempt asks for this much less width
_ATTEMPTS = 4
_COMPOSED = "refuted by what all uses together reveal: no single outcome is named"


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

    mechanism: Mechanism | Budget
    claim: Claim
    verdict: Verdict
    measured: Enclosure
    witness: Witness | None = None
    note: str | None = None


def audit(
    mechanism: Mechanism | Budget, claim: Claim, width: Fraction = WIDTH, cap: int = CAP
) -> Audit:
    """Decide the claim. Narrows what is measured until the claim lies outside of it.

    mechanism: one use of it, or a budget of several uses.
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
    if isinstance(mechanism, Budget):
        return Audit(mechanism, claim, Verdict.REFUTED, measured, note=_COMPOSED)
    witness = find_witness(mechanism, claim, measured)
    remark = None if witness else "refuted by a proof about the tails: no single outcome is named"
    return Audit(mechanism, claim, Verdict.REFUTED, measured, witness, remark)


def _measure(mechanism: Mechanism | Budget, claim: Claim, width: Fraction, cap: int) -> Enclosure:
    budget = mechanism if isinstance(mechanism, Budget) else compose(mechanism)
    if isinstance(claim, PureDP):
        return budget.pure(width, cap)
    if isinstance(claim, ApproxDP):
        return budget.epsilon(claim.delta, width, cap)
    if isinstance(claim, RenyiDP):
        return budget.renyi(claim.order, width, cap)
    return budget.zcdp(width, cap)
