"""Bounds of what is known by its rho alone, sampled: above the Gaussian of that rho, and narrow."""

from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp.accounting.interop.account import Concentrated
from exactdp.exact.precision import enclose, working_precision


@pytest.mark.parametrize("order", ["3/2", "2", "5/2", "3"])
@pytest.mark.parametrize("rate", ["1/100", "1/2", "1"])
def test_sampled_users(rate: str, order: str) -> None:
    rho, q, a = mpf(1) / 8, oracles.real(rate), oracles.real(order)

    def moment(x: mpf) -> mpf:
        return mpmath.npdf(x, 0, 2) * (1 - q + q * mpmath.exp((2 * x - 1) / 8)) ** a

    with mpmath.workdps(30):
        truth = mpmath.log(mpmath.quad(moment, range(-30, 36, 6))) / (a - 1)
    bound = Concentrated(Fraction(rate), Fraction(1, 8))
    with working_precision(96):
        found = Fraction(enclose(bound.renyi(Fraction(order))).upper)
    assert oracles.exactly(truth) * (1 - Fraction(1, 10**15)) <= found
    assert found <= oracles.exactly(rho * a) * (1 + Fraction(1, 10**15))
    if rate == "1/100":
        assert found <= oracles.exactly(truth) * 8 < oracles.exactly(rho * a) / 100
