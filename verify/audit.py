"""Audit: is a claim about a mechanism true? VERIFIED, REFUTED or UNDECIDED, never a guess."""

from __future__ import annotations

import logging
import math
from decimal import ROUND_FLOOR, Decimal
from enum import Enum
from fractions import Fraction
from itertools import chain, islice
from typing import TypeVar

from attrs import evolve, frozen

from ..accounting.composition.composed import Composition, compose
from ..accounting.figure import meeting
from ..accounting.losses.continuous.profile import has_no_outcomes
from ..common.rows import Rows, written
from ..exact import CAP, WIDTH, Enclosure, OutOfTimeError, decimal_text, time_left
from ..exact.budget import in_time
from ..exact.errors import UndecidedError
from ..exact.rounding import to_digits
from ..mechanisms.additive.vector import vector
from ..mechanisms.bracket import Bracketed
from ..mechanisms.mechanism import Mechanism, ways
from ..mechanisms.sampled import unsampled
from .guarantee import Guarantee
from .witness import Witness

_NARROWER = Fraction(1, 10**12)  # each further attempt asks for this much less width
_ATTEMPTS = 4
_MOST_PAIRS = 64  # where a witness is looked for
_FAR = 10**15  # digits tell an excess of more than this part of the claim
_LOG = logging.getLogger(__name__)
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")
_ALONG = "refuted along a vector within the sensitivity: no single outcome is named"
_ATTAINED = "refuted by what some neighbours attain: no single outcome is named"
_NONE_FOUND = "refuted by a proof, about the tails maybe: no single outcome was found that shows it"
_COMPOSED = "refuted by what all releases together reveal: no single outcome is named"

_Found = TypeVar("_Found")


class Verdict(Enum):
    """What is certain about a claim.

    >>> import exactdp
    >>> exactdp.audit("discrete-laplace:epsilon=0.1", "pure:0.1").verdict is Verdict.VERIFIED
    True
    """

    VERIFIED = "VERIFIED"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"

    def __bool__(self) -> bool:
        raise TypeError("a verdict is not true or false: compare it, as `is Verdict.VERIFIED`")


@frozen
class Audit(Rows):
    """The verdict, and what was measured: the smallest number for which the claim would hold.

    An audit is not true or false (`bool` raises TypeError): ask `.verified` or `.refuted`, of which
    neither holds where it is undecided.

    witness: on REFUTED, where to look; None where a proof about the tails refutes, or none of the
    outcomes that were looked at does alone.
    note: anything that a reader must know besides.

    mechanism, claim, verdict, measured: what was audited, and what came of it.

    >>> import exactdp
    >>> audit = exactdp.audit("skellam:variance=100", "rdp:2,0.0099")
    >>> audit.refuted, audit.measured < "0.01", audit.witness.where
    (True, True, 'order 2')
    """

    mechanism: Mechanism | Composition
    claim: Guarantee
    verdict: Verdict
    measured: Enclosure
    witness: Witness | None = None
    note: str | None = None

    @property
    def verified(self) -> bool:
        """Is it proved that the claim holds?"""
        return self.verdict is Verdict.VERIFIED

    @property
    def refuted(self) -> bool:
        """Is it proved that the claim does not hold?"""
        return self.verdict is Verdict.REFUTED

    @property
    def excess(self) -> Enclosure:
        """What is measured less what is claimed: above 0 if REFUTED, at most 0 if VERIFIED."""
        return self.measured.plus(-self.claim.bound)

    @property
    def told(self) -> str:
        """What was measured; where that is hardly more than the claim REFUTED, how much more.

        >>> from exactdp import audit
        >>> audit("discrete-laplace:scale=1/2", "pure:" + "1." + 30 * "9").told
        '2, above the claim by at least 1.0e-30'
        """
        text, excess = str(self.measured), self.excess.lower
        low = Decimal(text.strip("[]").partition(",")[0])
        if not self.refuted or low > self.claim.bound < _FAR * excess:
            return text
        digits = to_digits(Fraction(excess), 2, ROUND_FLOOR)
        least = Decimal(digits.numerator) / digits.denominator
        return f"{text}, above the claim by at least {least:.1e}" if least else text

    def __bool__(self) -> bool:
        raise TypeError("an audit is not true or false: ask .verified or .refuted")

    def rows(self) -> list[dict[str, object]]:
        """One row: mechanism, claim, verdict, what was measured, where to look, and the note."""
        return [
            {
                "mechanism": written(self.mechanism),
                "claim": str(self.claim),
                "verdict": self.verdict.name,
                "measured": self.measured,
                "witness": None if self.witness is None else self.witness.where,
                "note": self.note,
            }
        ]

    def __repr__(self) -> str:
        return f"Audit({self.claim} {self.verdict.name}, tightest {self.claim.bounds} {self.told})"


def audit(
    mechanism: Mechanism | Composition, claim: Guarantee, width: Fraction = WIDTH, cap: int = CAP
) -> Audit:
    """Decide the claim: refines the enclosure of what is measured until it excludes the bound.

    mechanism: one use of it, or a composition of several uses.
    width: the relative width that `measured` is to have. cap: bits of precision allowed. Inside a
    `time_limit` it ends in time, UNDECIDED where nothing else is certain by then.
    """
    found = _audit(mechanism, claim, width, cap)
    _LOG.info("%r of %r", found, mechanism)
    return found


def _audit(
    mechanism: Mechanism | Composition, claim: Guarantee, width: Fraction, cap: int
) -> Audit:
    composition = compose(mechanism)
    found = in_time(lambda: _narrowed(composition, claim, width, cap), None)
    measured = Enclosure.unknown() if found is None else found
    answer, other = measured.at_most(claim.bound), claim.other_way
    if answer is None and other is not None:
        ask, bound = other.deciding, other.bound
        answer = in_time(lambda: ask(composition, width, cap).at_most(bound), None)
    if answer is None:
        return _undecided(mechanism, claim, measured, found is not None, cap)
    if measured.at_most(claim.bound) is None:
        ends = (_ZERO, claim.bound) if answer else (claim.bound, _INFINITY)
        measured = measured.intersection(Enclosure(*ends))
    return _decided(mechanism, claim, measured, verified=answer)


def _undecided(
    mechanism: Mechanism | Composition,
    claim: Guarantee,
    measured: Enclosure,
    ended: bool,
    cap: int,
) -> Audit:
    """With the reason."""
    why = "in the time allowed" if not ended else f"with {cap} bits"
    why += " or in the time allowed" if ended and math.isfinite(time_left()) else ""
    reason = f", which could not be enclosed more narrowly {why}"
    if measured.why:
        reason = f": {'; '.join(measured.why)}"
    note = f"{decimal_text(claim.bound)} lies inside what is known of the true value{reason}"
    return Audit(mechanism, claim, Verdict.UNDECIDED, measured, note=note)


def settled(found: Audit, known: Enclosure) -> Audit:
    """The audit, given what else is known of what it measured: an open claim may follow from it."""
    measured = meeting(found.claim.figure, found.measured, known)
    answer = measured.at_most(found.claim.bound)
    if found.verdict is not Verdict.UNDECIDED or answer is None:
        return evolve(found, measured=measured)
    return _decided(found.mechanism, found.claim, measured, verified=answer)


def _decided(
    mechanism: Mechanism | Composition, claim: Guarantee, measured: Enclosure, verified: bool
) -> Audit:
    """With where to look, if it is refuted."""
    if verified:
        return Audit(mechanism, claim, Verdict.VERIFIED, measured)
    composition = compose(mechanism)
    one = composition.uses[0].mechanism
    if composition.times > 1 or vector(one):
        note = _COMPOSED if composition.times > 1 else _ALONG
        return Audit(mechanism, claim, Verdict.REFUTED, measured, note=note)
    attained = _attained(one)
    witness = in_time(lambda: _witness(one, attained, claim, measured), None)
    remark = None if witness else _NONE_FOUND if attained is None else _ATTAINED
    return Audit(mechanism, claim, Verdict.REFUTED, measured, witness, remark)


def _narrowed(composition: Composition, claim: Guarantee, width: Fraction, cap: int) -> Enclosure:
    """What is measured, narrower until the bound lies outside of it."""
    measured = claim.deciding(composition, width, cap)
    for _ in range(_ATTEMPTS):
        if measured.at_most(claim.bound) is not None or not measured.is_within(width):
            break
        width *= _NARROWER
        try:
            measured = measured.intersection(claim.measure(composition, width, cap))
        except OutOfTimeError:
            break
    return measured


def _attained(mechanism: Mechanism) -> list[Mechanism] | None:
    """Of what is known by others: single uses that some neighbours attain; None of all else."""
    if not isinstance(known := unsampled(mechanism), Bracketed):
        return None
    alone = (parts[0] for parts in known.bracket().attained if len(parts) == 1)
    return [one for one, times in alone if times == 1]


def _witness(
    mechanism: Mechanism,
    attained: list[Mechanism] | None,
    claim: Guarantee,
    measured: Enclosure,
) -> Witness | None:
    """Something that refutes the claim for certain, for a claim known to be refuted.

    attained: where to look, if the mechanism has no pairs of its own. None where the refutation
    rests on a proof about the tails alone, or on a pair further down.
    """
    # the first pairs are the worst ones wherever that is known
    seen = [mechanism] if attained is None else attained
    seen = [one for one in seen if not has_no_outcomes(one)]  # what is continuous has none
    pairs = chain.from_iterable(way.pairs() for one in seen for way in ways(one))
    for pair in islice(pairs, _MOST_PAIRS):
        try:
            witness = claim.witness(pair, measured)
        except UndecidedError:  # no outcome so far out is found
            continue
        if witness is not None and witness.excess.greater_than(0) is True:
            return witness
    return None
