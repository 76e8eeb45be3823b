"""The histogram lies above the law everywhere, and its floors below: checked outcome by outcome."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import arb, ctx
from sampler_fit import fit_counts

from exactdp.exact.precision import working_precision
from exactdp.mechanisms import Binomial, DiscreteGaussianSum, Polya
from exactdp.mechanisms.laws import binomial, polya
from exactdp.mechanisms.laws.discrete_gaussian import _histogram
from exactdp.mechanisms.laws.skellam import poisson_envelope
from exactdp.mechanisms.samplers import SeededBits
from exactdp.mechanisms.samplers.envelope import Step, Tail, envelope


def poisson(rate):
    return lambda x: mpmath.mpf(rate) ** x / mpmath.factorial(x) if x >= 0 else mpmath.mpf(0)


def gaussian(sigma2):
    return lambda x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * sigma2))


CASES = [
    (poisson_envelope(Fraction(1, 10)), poisson(0.1)),
    (poisson_envelope(Fraction(7, 2)), poisson(3.5)),
    (poisson_envelope(Fraction(3000)), poisson(3000)),
    (polya.histogram(Polya("1/1000", 50)), Polya("1/1000", 50).pmf),
    (polya.histogram(Polya("1/2", 1000)), Polya("1/2", 1000).pmf),
    (polya.histogram(Polya(1, 20)), Polya(1, 20).pmf),
    (polya.histogram(Polya("9/2", 20)), Polya("9/2", 20).pmf),
    (binomial.histogram(Binomial(5, "1/3")), lambda x: mpmath.binomial(5, x) * mpmath.mpf(2) ** -x),
    (binomial.histogram(Binomial(9000, "1/2")), lambda x: mpmath.binomial(9000, x)),
    (_histogram(DiscreteGaussianSum(1000, 100)), gaussian(100_000)),
    (envelope(lambda x: arb(1) if 0 <= x < 40 else arb(0), 20, 12, (0, 39)), lambda x: 1),
]


@pytest.mark.parametrize(("histogram", "mass"), CASES)
def test_heights_and_floors(histogram, mass):
    with mpmath.workdps(60):
        tops = [piece for piece in histogram.pieces if isinstance(piece, Step)]
        tails = [piece for piece in histogram.pieces if isinstance(piece, Tail)]
        covered = {}
        for piece in tops:
            size = piece.weight // piece.height
            assert piece.weight == size * piece.height
            inside = {piece.low, piece.low + 1, piece.low + size // 2, piece.low + size - 1}
            for x in inside & set(range(piece.low, piece.low + size)):
                covered[x] = (piece.floor, piece.height)
        # the unit: from the mode, where the height is certainly within one unit of the mass
        top = max(covered, key=lambda x: covered[x][1])
        unit = mass(top) / covered[top][1]
        for x, (floor, height) in covered.items():
            real = mass(x) / unit
            assert floor <= real * (1 + mpmath.mpf(10) ** -15)
            assert real * (1 - mpmath.mpf(10) ** -15) <= height
        for tail in tails:
            s = mpmath.mpf(tail.scale.numerator) / tail.scale.denominator
            top_mass = tail.weight * -mpmath.expm1(-1 / s)
            for j in (0, 1, 2, 5, math.ceil(s), math.ceil(3 * s)):
                x = tail.start + tail.side * j
                assert mass(x) / unit <= top_mass * mpmath.exp(-j / s) * (1 + mpmath.mpf(10) ** -15)


@pytest.mark.parametrize(("histogram", "mass"), CASES)
def test_every_outcome_has_one_place(histogram, mass):
    """Steps do not overlap and leave no gap; tails begin where they end."""
    steps = sorted(
        (piece.low, piece.low + piece.weight // piece.height)
        for piece in histogram.pieces
        if isinstance(piece, Step)
    )
    assert all(end == start for (_, end), (start, _) in pairwise(steps))
    for tail in histogram.pieces:
        if isinstance(tail, Tail):
            assert tail.start == (steps[-1][1] if tail.side > 0 else steps[0][0] - 1)


class Aimed:
    """Bits that place the first point where it is wanted, and are random afterwards."""

    def __init__(self, place, seed):
        self.place, self.rest = place, SeededBits(seed)

    def take(self, count):
        place, self.place = self.place, None
        return self.rest.take(count) if place is None else place


@pytest.mark.slow_cases("histogram1-pmf", "histogram4-pmf", "histogram5-<lambda>")
@pytest.mark.parametrize(("histogram", "mass"), [case for case in CASES if len(case[0].ends) > 20])
def test_the_tails_are_drawn_right(histogram, mass):
    """Points that fall on a tail: the outcomes that are kept follow the law beyond its start."""
    ends = histogram.ends
    for index, tail in enumerate(histogram.pieces):
        if not isinstance(tail, Tail) or tail.scale > 100:
            continue
        found = []
        for seed in range(800):
            x = histogram.draw(Aimed(ends[index] - 1, seed))
            if (x - tail.start) * tail.side >= 0:
                found.append((x - tail.start) * tail.side)
        # the first outcomes by themselves, and all others
        count = max(1, math.floor(float(tail.scale) / 2))
        with mpmath.workdps(30):
            reach = math.ceil(40 * float(tail.scale)) + 5
            masses = [mass(tail.start + tail.side * j) for j in range(reach)]
            share = float(mpmath.fsum(masses[:count]) / mpmath.fsum(masses))
        near = sum(j < count for j in found)
        assert len(found) > 150
        assert fit_counts([near, len(found) - near], [share, 1 - share]).passes


def test_precision_is_raised_until_it_is_decided():
    """A ratio that is known to few digits at first decides nothing wrongly."""
    asked = []

    def ratio(x):
        asked.append(ctx.prec)
        if not 0 <= x <= 1:
            return arb(0)
        return arb(1) / (1 + x) + (arb(0, 2**-20) if ctx.prec < 150 else 0)

    histogram = envelope(ratio, 0, 1, (0, 1))
    bits = SeededBits(1)
    draws = [histogram.draw(bits) for _ in range(6000)]
    assert 0.30 < sum(draws) / 6000 < 0.37
    with working_precision(64):
        assert max(asked) >= 96
