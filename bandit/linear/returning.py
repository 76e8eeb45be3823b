"""What users spend who take part in several batches of a linear bandit.

All batches release by one mechanism, each with noise of its own. Who is in m of them, at most once
in each, spends what m uses of it cost, whichever they are and however that follows from earlier
releases: adaptive composition. Neighbours differ in all that she ever contributes.

A tree of sums over the batches would not pay, as growing batches are few. Of 13 (T = 10^6) a tree
adds up 3 nodes at most, in place of 13 sums, but who visits once is in 4 nodes: noise of 3 * 4 v in
place of 13 v. Who visits m times moves upper nodes by up to m, and pays with the square: all 13
visits move the nodes by 149 in squared norm, in place of 13.
"""

from __future__ import annotations

from decimal import ROUND_CEILING
from fractions import Fraction

from attrs import frozen

from ...accounting.composition.composed import compose
from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, whole
from ...exact.rounding import to_digits
from ...verify.audit import Audit, Verdict
from ...verify.certificate import Certificate, certificate_of
from ...verify.fields import NotCertifiedError
from ...verify.guarantee import ApproxDP, PureDP
from ..evidence import NotVerifiedError
from .release import LinearRelease, released

_WIDTH = Fraction(1, 1000)
_ROOM, _DIGITS = Fraction(10_001, 10_000), 6  # above what is measured, for the certificate


@frozen
class Returning:
    """What so many batches cost together.

    delta        given for `epsilon`
    epsilon      the least for which they are (epsilon, delta)-DP
    pure         their pure epsilon, where each has one
    certificate  of an epsilon just above
    """

    batches: int
    delta: Fraction
    epsilon: Enclosure
    pure: Enclosure | None
    certificate: Certificate


def returning(release: LinearRelease, batches: ExactInput, delta: Fraction, most: int) -> Returning:
    """Of a user who is in so many of `most` batches. Raises ParameterError for more than those.

    Raises NotVerifiedError where the checker does not follow.
    """
    count = whole(batches, "returning", at_least=1, at_most=most)
    together = count * compose(released(release.contribution, release.noise))
    epsilon = together.epsilon(delta, width=_WIDTH, work=1)
    pure = together.pure() if isinstance(release.claim, PureDP) else None
    claimed = ApproxDP(to_digits(Fraction(epsilon.upper) * _ROOM, _DIGITS, ROUND_CEILING), delta)
    try:
        bound = Enclosure(Fraction(0), claimed.bound)
        certificate = certificate_of(Audit(together, claimed, Verdict.VERIFIED, bound))
    except NotCertifiedError as error:
        raise NotVerifiedError(f"{count} batches: {error}", Verdict.UNDECIDED) from error
    return Returning(count, delta, epsilon, pure, certificate)
