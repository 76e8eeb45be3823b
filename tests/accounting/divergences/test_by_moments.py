"""Brackets of Rényi divergences without sums: against sums by mpmath, and where no sum is done."""

import math
from fractions import Fraction

import mpmath
import pytest

from exactdp import ZCDP, Verdict
from exactdp.accounting import compose
from exactdp.accounting.divergences.by_moments import divergence_bracket, rho_bracket
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws import DiscreteGaussian, PolyaDifference, Skellam
from exactdp.mechanisms.shift_pair import ShiftPair
from exactdp.mechanisms.spec import parse
from exactdp.verify import audit


def _masses(law, reach):
    return {x: law.pmf(x, 60) for x in range(-reach, reach + 1)}


def _truth(masses, shift, order):
    """D_a of the law and the law moved, over a window that holds all that matters."""
    with mpmath.workdps(50):
        a = mpmath.mpf(order.numerator) / order.denominator
        total = mpmath.fsum(
            p**a * masses[x - shift] ** (1 - a) for x, p in masses.items() if x - shift in masses
        )
        return mpmath.log(total) / (a - 1)


@pytest.mark.slow_cases("1-law1-30-2.25", "3-law1-30-2.25")
@pytest.mark.parametrize(
    ("law", "reach", "last"),  # D_a/a tends to shift^2/(2 last)
    [
        (DiscreteGaussian(Fraction(9)), 60, 9.0),
        (DiscreteGaussian(Fraction(1, 4)).sum_of(9), 30, 2.25),
        (Skellam(20), 90, math.inf),
    ],
)
@pytest.mark.parametrize("shift", [1, 3])
def test_brackets_hold_the_divergence(law, reach, last, shift):
    masses, pair = _masses(law, reach), ShiftPair(law, shift)
    with working_precision(96):
        rho = rho_bracket(pair)
        for order in (Fraction(101, 100), Fraction(2), Fraction(6)):
            truth = _truth(masses, shift, order)
            found = divergence_bracket(pair, order)
            low, high = (mpmath.mpf(str(end)) for end in (found.lower, found.upper))
            assert low <= truth * (1 + mpmath.mpf("1e-15"))
            assert truth <= high * (1 + mpmath.mpf("1e-15"))
            assert low > 0.8 * truth and high < 1.6 * truth
            assert truth / mpmath.mpf(order.numerator) * order.denominator <= mpmath.mpf(
                str(rho.upper)
            ) * (1 + mpmath.mpf("1e-15"))
        kl = _truth(masses, shift, 1 + Fraction(1, 10**12))
        assert mpmath.mpf(str(rho.lower)) <= max(kl, shift**2 / (2 * last)) * (1 + 1e-9)


def test_moments_beyond_the_domain_tell_nothing():
    with working_precision(96):
        found = divergence_bracket(ShiftPair(PolyaDifference("0.9", 3), 1), Fraction(50))
    assert found.lower == 0


@pytest.mark.parametrize(
    ("spec", "rho"),
    [
        ("discrete-gaussian-sum:count=1e9,sigma2=1,sensitivity=1000", "0.00050000010562"),
        ("discrete-gaussian-sum:count=1e9,sigma2=4,sensitivity=1000", "0.000125"),
        ("skellam:variance=1e12,sensitivity=1000", "0.0000005"),
    ],
)
def test_noise_of_any_size_has_both_ends(spec, rho):
    truth, mechanism = Fraction(rho), parse(spec).mechanism
    for figure, scale in ((compose(mechanism).zcdp("1e-6"), 1), (compose(mechanism).renyi(2), 2)):
        assert figure.lower <= truth * scale * (1 + Fraction(1, 10**8))
        assert truth * scale * (1 - Fraction(1, 10**8)) <= figure.upper
        assert figure.is_within(Fraction(1, 10**6))
    near = Fraction(1, 10**5)
    assert audit(mechanism, ZCDP(truth * (1 + near))).verdict is Verdict.VERIFIED
    assert audit(mechanism, ZCDP(truth * (1 - near))).verdict is Verdict.REFUTED
