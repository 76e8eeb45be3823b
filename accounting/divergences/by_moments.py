"""Brackets of Rényi divergences of shifted noise that need no sum over outcomes.

*From below*, Hölder's inequality with the exponents a and a/(a-1): for any function g

    E_P e^((a-1) g) = E_Q (P/Q) e^((a-1) g) <= (E_Q (P/Q)^a)^(1/a) (E_Q e^(a g))^((a-1)/a),
    D_a >= a/(a-1) log E_P e^((a-1) g) - log E_Q e^(a g)

(Birrell, Dupuis, Katsoulakis, Rey-Bellet, Wang, SIAM J. Math. Data Sci. 2021, Theorem 2.2, with
another proof). With g(x) = s x, P being Q moved by d and K the logarithm of Q's moments,

    D_a >= a s d + a/(a-1) K((a-1) s) - K(a s),   and as a -> 1, where K(0) = 0 is its mean's
    D_1 >= s d - K(s)                             slope 0 for a symmetric law,

which for a Gaussian is met at s = d/variance. rho is at least D_1, as D_a rises in a.

*From above*, a Gaussian: noise of unit parameter mu is mu d-GDP (`accounting.envelope`), so that
D_a is at most a (mu d)^2/2.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from flint import acb, arb

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose_between
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from ...mechanisms.shift_pair import ShiftPair
from ..envelope import NoEnvelopeError, unit_parameter

CLOSE = Fraction(1, 10**5)  # so narrow, a bracket is taken where sums are long
_LONG = 10**7  # variance from which on those of sums of discrete Gaussians are


def divergence_bracket(pair: ShiftPair, order: Fraction) -> Enclosure:
    """Of the Rényi divergence of this order > 1, at the working precision."""
    return _bracket(pair, order, Fraction(0))


def rho_bracket(pair: ShiftPair) -> Enclosure:
    """Of the supremum of D_a/a; of sums of discrete Gaussians it is at least the limit at infinity
    (`DiscreteGaussianSum.zcdp_closed`).
    """
    law = pair.law
    known = law.gaussian_rho(pair.shift) if isinstance(law, DiscreteGaussianSum) else Fraction(0)
    return _bracket(pair, None, known)


def takes_long(pair: ShiftPair) -> bool:
    """Is a sum over the outcomes out of reach?"""
    law = pair.law
    return isinstance(law, DiscreteGaussianSum) and law.count * law.sigma2 > _LONG


def _bracket(pair: ShiftPair, order: Fraction | None, known: Fraction) -> Enclosure:
    law, d = pair.law, pair.shift
    least = ball(known)
    if law.symmetric and law.mgf_domain == (None, None):
        least = least.max(_least(pair, order))
    try:
        unit = ball(Fraction(unit_parameter(law).upper))
    except NoEnvelopeError:
        return Enclosure(enclose_between(least, least).lower, Decimal("Infinity"))
    scale = arb(1) if order is None else ball(order)
    found = enclose_between(least, scale * (unit * d) ** 2 / 2)
    return Enclosure(max(found.lower, known), found.upper, by=("moments", "Gaussian envelope"))


def _least(pair: ShiftPair, order: Fraction | None) -> arb:
    d = pair.shift
    s = ball(Fraction(d) / Fraction(pair.law.moments().variance.upper)).mid()

    def moments(t: arb) -> arb:
        return pair.law.cumulant(acb(t)).real

    if order is None:
        found = s * d - moments(s)
    else:
        a = ball(order)
        found = a * s * d + a / (a - 1) * moments((a - 1) * s) - moments(a * s)
    return found if found.is_finite() and found > 0 else arb(0)
