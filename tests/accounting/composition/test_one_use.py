"""One use of continuous noise on batches of a fixed size: from what is attained to both ways."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import mpf

import exactdp

pytestmark = pytest.mark.contract


@pytest.mark.parametrize("order", ["3/2", "4"])
def test_renyi_of_batches_is_bounded_by_both_ways_together(order: str) -> None:
    q, a, t = mpf(1) / 4, oracles.real(order), mpf(3) / 2

    def moment(power: mpf) -> mpf:
        def weighed(x: mpf) -> mpf:
            return (
                mpmath.npdf(x, 0, t) * (1 - q + q * mpmath.exp((2 * x - 1) / (2 * t**2))) ** power
            )

        return mpmath.quad(weighed, range(-20, 30, 4))

    with mpmath.workdps(30):
        attained = mpmath.log(moment(a)) / (a - 1)
        both = mpmath.log(moment(a) + moment(1 - a) - 1) / (a - 1)
    found = exactdp.compose("gaussian:sigma=1.5,fixed-size=1/4").renyi(Fraction(order))
    assert Fraction(found.lower) <= oracles.exactly(attained) * (1 + Fraction(1, 10**15))
    assert Fraction(found.lower) >= oracles.exactly(attained) * Fraction("0.999")
    assert oracles.exactly(attained) * Fraction("1.001") <= Fraction(found.upper)
    assert Fraction(found.upper) <= oracles.exactly(both) * Fraction("1.001")
