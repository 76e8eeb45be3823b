"""D_x/x between two orders: the bound from their values and slopes holds where it is largest."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from exactdp.accounting.divergences.concentrated import _bound, _Point

RARE = [  # P and Q of few outcomes; the second costs much, so that D_x/x is largest inside
    (("0.999", "0.001"), ("0.999999999", "1e-9")),
    (("0.9", "0.1"), ("0.99999", "1e-5")),
    (("0.5", "0.4999", "0.0001"), ("0.4", "0.599999999", "1e-9")),
]


def share(p: list[mpmath.mpf], q: list[mpmath.mpf], order: mpmath.mpf) -> mpmath.mpf:
    """D_x/x, from its definition."""
    total = mpmath.fsum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))
    return mpmath.log(total) / (order * (order - 1))


def point(p: tuple[str, ...], q: tuple[str, ...], order: Fraction) -> _Point:
    """M, M' and M'' at an order, summed anew."""
    above, moments = arb(order.numerator) / order.denominator - 1, [arb(0)] * 3
    for a, b in zip(p, q, strict=True):
        loss = (arb(a) / arb(b)).log()
        term = arb(a) * (above * loss).exp()
        moments = [m + term * loss**j for j, m in enumerate(moments)]
    m, slope, bend = moments
    return _Point(above + 1, [(m, slope, bend)], m.log(), slope / m)


@pytest.mark.parametrize(("p", "q"), RARE)
@pytest.mark.parametrize("apart", ["0.5", "0.1", "0.02", "0.002"])
def test_the_bound_between_two_orders_holds_where_it_is_largest(p, q, apart):
    with mpmath.workdps(40):
        masses = [[mpmath.mpf(x) for x in side] for side in (p, q)]
        best, step = mpmath.mpf(3), mpmath.mpf(1)
        while step > mpmath.mpf(10) ** -4:
            near = (best + step * mpmath.mpf(i) / 8 for i in range(-15, 16))
            best, step = max(near, key=lambda x: share(*masses, x)), step / 4
        centre, half = Fraction(str(best)).limit_denominator(10**6), Fraction(apart) / 2
        assert centre - half > 1
        for shift in (Fraction(-1, 2), 0, Fraction(1, 2)):
            low, high = (centre + (shift + side) * half for side in (-1, 1))
            found = _bound([(None, 1)], point(p, q, low), point(p, q, high))
            inside = (low + (high - low) * Fraction(i, 50) for i in range(51))
            worst = max(share(*masses, mpmath.mpf(x.numerator) / x.denominator) for x in inside)
            near = mpmath.mpf(str(found.mid().str(40, radius=False)))
            assert worst <= near * (1 + mpmath.mpf(10) ** -12)
            if Fraction(apart) < Fraction(1, 10):
                assert near <= worst * (1 + 10 * mpmath.mpf(apart) ** 2)
