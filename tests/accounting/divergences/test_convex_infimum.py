"""The infimum of a convex function plus h, against golden section at 50 digits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mpmath
import oracles
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import Enclosure
from exactdp.accounting.divergences.convex_infimum import Values, infimum
from exactdp.exact import ball, working_precision

Lines = list[tuple[Fraction, Fraction]]

slopes = st.fractions(0, 20, max_denominator=100)
heights = st.fractions(0, 20, max_denominator=100)


def broken(lines: Lines) -> Values:
    """The largest of these lines and 0: convex, with kinks."""
    return lambda points: [
        Enclosure.exactly(max([a + b * x for a, b in lines] + [Fraction(0)])) for x in points
    ]


def least(lines: Lines, tilt: Fraction) -> mpf:
    """On a grid of log x that is refined around its lowest point, where the valley must be."""

    def objective(s: mpf) -> mpf:
        x = mpmath.exp(s)
        f = max([oracles.real(a) + oracles.real(b) * x for a, b in lines] + [mpf(0)])
        return f + oracles.real(tilt) * x - mpmath.log1p(x) - x * mpmath.log1p(1 / x)

    low, high = mpf(-60), mpf(60)
    while high - low > mpf(10) ** -32:
        grid = [low + (high - low) * k / 12 for k in range(13)]
        k = min(range(13), key=lambda k: objective(grid[k]))
        low, high = grid[max(k - 1, 0)], grid[min(k + 1, 12)]
    return objective((low + high) / 2)


def check(lines: Lines, tilt: Fraction, falls: bool) -> None:
    at_zero = broken(lines)([Fraction(0)])[0]
    with working_precision(256):
        found = infimum(
            broken(lines),
            ball(tilt),
            falls=falls,
            at_zero=at_zero,
            tolerance=lambda upper: arb("1e-12"),
        )
        with mpmath.workdps(50):
            truth = ball(oracles.exactly(least(lines, tilt)))
        assert found.lower <= truth + arb("1e-25")
        assert found.upper >= truth - arb("1e-25")
        assert found.upper - found.lower <= arb("1e-12")


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.tuples(heights, slopes), min_size=1, max_size=5), st.fractions("0.01", 9))
def test_falling(lines: Lines, tilt: Fraction) -> None:
    check([(a, -b) for a, b in lines], tilt.limit_denominator(1000), True)


@settings(max_examples=15)
@given(st.lists(st.tuples(heights, slopes), min_size=1, max_size=5), st.fractions(0, 9))
def test_rising(lines: Lines, tilt: Fraction) -> None:
    # one line steeper than the tilt, so that the infimum is attained
    steep = tilt.limit_denominator(1000)
    check([*((-a, b) for a, b in lines), (Fraction(0), steep + 1)], -steep, False)


@pytest.mark.parametrize("falls", [True, False])
def test_nothing_finite(falls: bool) -> None:
    def values(points: Sequence[Fraction]) -> list[Enclosure]:
        return [Enclosure.infinite() for _ in points]

    with working_precision(128):
        found = infimum(
            values, arb(1 if falls else -1), falls=falls, at_zero=None, tolerance=lambda _: arb(0)
        )
    assert found.x is None
    assert found.upper == arb.pos_inf()
    assert found.lower < found.upper
