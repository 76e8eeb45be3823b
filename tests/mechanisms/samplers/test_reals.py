"""Coins of a probability known by enclosures: what is compared, and when it is close."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from exactdp import UndecidedError
from exactdp.exact.number import Logarithm
from exactdp.mechanisms.samplers import SeededBits, bernoulli_real
from exactdp.mechanisms.samplers.coins import Chance, Uniform, enclosed, near_floor

THIRD = lambda: arb(1) / 3  # noqa: E731
LOG2 = Logarithm(Fraction(2))


class Given:
    """Bits that were chosen: those of this number, then zeros or ones."""

    def __init__(self, value, places, then=0):
        self.value, self.left, self.then, self.taken = value, places, then, 0

    def take(self, count):
        self.taken += count
        found = 0
        for _ in range(count):
            self.left -= 1
            bit = (self.value >> self.left) & 1 if self.left >= 0 else self.then
            found = 2 * found + bit
        return found


@pytest.mark.parametrize("places", [64, 100, 128, 200, 500])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_u_next_to_the_probability(places, off):
    """U = floor(log(2) 2^places) 2^-places and its neighbours: decided right, with enough bits."""
    with mpmath.workdps(400):
        value = int(mpmath.floor(mpmath.log(2) * mpmath.mpf(2) ** places)) + off
        for then in (0, 1):
            u = (mpmath.mpf(value) + then) / mpmath.mpf(2) ** places  # all ones: its supremum
            bits = Given(value, places, then)
            assert bernoulli_real(LOG2, bits) is bool(u < mpmath.log(2) or (then and off < 0))
            bits = Given(value, places, then)
            chance = Chance(LOG2.ball)
            assert chance.draw(bits) is bool(u < mpmath.log(2) or (then and off < 0))
            assert bits.taken >= 64


def test_enclosures_are_integers_around_the_value():
    for places in (0, 1, 64, 1000):
        low, high = enclosed(THIRD, places)
        assert low <= Fraction(1 << places, 3) <= high and high - low <= 1
    assert enclosed(lambda: arb(5) / 4, 2) == (5, 5)
    assert enclosed(lambda: -arb(5) / 4, 0) == (-2, -1)


def test_an_enclosure_that_never_narrows_is_undecided():
    wide = lambda: arb("0.5", "0.1")  # noqa: E731
    with pytest.raises(UndecidedError):
        Uniform(1 << 63, 64).is_below(wide, SeededBits(1))
    with pytest.raises(UndecidedError):
        near_floor(lambda: arb(10, 5))
