"""Tails from one line of values against the contour integrals of the laws, and exact sums."""

import math
from fractions import Fraction

import mpmath
import pytest

from exactdp.bandit.radius.inversion import Inversion
from exactdp.exact.number import mpf
from exactdp.exact.precision import enclose, working_precision
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from exactdp.mechanisms.laws.discrete_laplace import PolyaDifference
from exactdp.mechanisms.laws.skellam import Skellam

CASES = [
    Skellam(5),
    Skellam(10**6),
    DiscreteGaussianSum(500, 30),
    PolyaDifference(40, 25),
    PolyaDifference(5, 3),
]


def inverted(law, t):
    variance = float(law.moments().variance.upper)
    end = law.mgf_domain[1]
    inversion = Inversion(
        lambda z: law.cumulant(z).exp(),
        lambda at: float(law.path(at, 1)[0].real.mid()),
        math.sqrt(variance),
        None if end is None else float(end),
    )
    with working_precision(112):
        return inversion, inversion.at_least(t)


@pytest.mark.parametrize("law", CASES, ids=str)
def test_it_agrees_with_the_contour_integral(law):
    assert law.falls_off_axis
    deviation = math.sqrt(float(law.moments().variance.upper))
    inversion, _ = inverted(law, max(1, int(deviation)))
    for spread in (0.3, 1, 2, 3, 4, 5):
        t = max(1, int(spread * deviation))
        with working_precision(112):
            got = inversion.at_least(t)
            expected = law.upper_tail(t)
        if got is None:  # a pole near by: contour integrals are left to do it
            assert isinstance(law, PolyaDifference) and law.shape < 16 and spread > 3
            continue
        assert got.overlaps(expected)
        assert float(got.rad()) <= 1e-5 * float(expected.mid())


def test_it_encloses_an_exact_sum():
    law = Skellam(9)
    for t in (1, 4, 9, 15):
        _, got = inverted(law, t)
        with mpmath.workdps(40):
            truth = mpmath.fsum(law.pmf(x, 40) for x in range(t, 120))
            found = enclose(got)
            assert mpf(Fraction(found.lower)) <= truth * (1 + mpmath.mpf(10) ** -30)
            assert mpf(Fraction(found.upper)) >= truth * (1 - mpmath.mpf(10) ** -30)


def test_aliases_are_not_forgotten():
    """With so few points that they matter the enclosure is wide, and still right."""
    law = Skellam(9)
    inversion, _ = inverted(law, 3)
    line = inversion.line
    coarse = type(line)(
        line.start, 21, line.values, line.rest, line.first, line.farther, line.chernoff
    )
    with working_precision(112):
        # the same values would belong to other angles: recompute them for 21 points
        from flint import acb, acb_poly, arb

        turn = 2 * arb.pi() / 21
        values = [acb(1)] + [
            2 * inversion._value(acb(line.start, turn * j)) / line.first for j in range(1, 11)
        ]
        coarse = type(line)(
            line.start, 21, acb_poly(values), arb(0), line.first, line.farther, line.chernoff
        )
        for t in (1, 3, 6):
            got = Inversion._on(coarse, t)
            assert got.overlaps(law.upper_tail(t))
            assert float(got.rad()) > 1e-9
