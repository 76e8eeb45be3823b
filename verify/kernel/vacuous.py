"""Theorems that are proved and say nothing: of any noise whatever, or of what nobody runs."""

from __future__ import annotations

from ..checker.mechanisms import Additive, Mechanism, Response, Sampled, TwoLaws, Vector
from ..checker.reach import Reach
from ..checker.reading import Statement


def vacuity(said: Statement) -> str | None:
    """Why what is VERIFIED says nothing of any noise; None where it says something.

    What is REFUTED breaks an inequality at some event: it always says something.
    """
    if said.verdict != "VERIFIED":
        return None
    if said.numbers.get("delta", 0) >= 1:
        return "at a delta of 1 or more it holds of any mechanism"
    if not any(times for _, times in said.uses):
        return "nothing is used"
    reasons = [_idle(mechanism) for mechanism, times in said.uses if times]
    return None if None in reasons else reasons[0]


def _idle(mechanism: Mechanism) -> str | None:
    """Why what comes out tells nothing of the data, or is not there."""
    match mechanism:
        case Sampled(rate=0) | Vector(rate=0):
            return "nobody takes part"
        case Sampled():
            return _idle(mechanism.mechanism)
        case Additive(sensitivity=0):
            return "the sensitivity is 0: neighbours have the same answer"
        case Additive(modulus=0):
            return "there are no values mod 0"
        case Additive(modulus=1):
            return "mod 1 all values are 0"
        case Vector(reach=Reach(l2=l2, l1=l1)) if any(each and each < 1 for each in (l2, l1)):
            return "the sensitivity is below 1: neighbours have the same answer"
        case Response(epsilon=0, delta=0):
            return "randomized response of epsilon 0 has no regard for its bit"
        case TwoLaws() if mechanism.p == mechanism.q:
            return "both laws of the pair are the same"
    return None
