"""Coins of a probability known by enclosures: what is compared, and when it is close."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from exactdp import ParameterError, UndecidedError
from exactdp.exact.number import Logarithm
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.samplers import SeededBits, bernoulli_real
from exactdp.mechanisms.samplers.reals import Chance, enclosed, is_below, near_floor

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


def test_far_from_it_64_bits_are_enough():
    for value, answer in ((0, True), (1 << 63, True), ((1 << 64) - 1, False)):
        bits = Given(value, 64)
        assert bernoulli_real(LOG2, bits) is answer
        assert bits.taken == 64


def test_enclosures_are_integers_around_the_value():
    for places in (0, 1, 64, 1000):
        low, high = enclosed(THIRD, places)
        assert low <= Fraction(1 << places, 3) <= high and high - low <= 1
    assert enclosed(lambda: arb(5) / 4, 2) == (5, 5)
    assert enclosed(lambda: -arb(5) / 4, 0) == (-2, -1)


def test_near_floor():
    for value in (Fraction(0), Fraction(7, 2), Fraction(10**40, 3)):
        found = near_floor(lambda value=value: arb(value.numerator) / value.denominator)
        assert value // 1 - 1 <= found <= value // 1


def test_an_enclosure_that_never_narrows_is_undecided():
    wide = lambda: arb("0.5", "0.1")  # noqa: E731
    with pytest.raises(UndecidedError):
        is_below(1 << 63, 64, wide, SeededBits(1))
    with pytest.raises(UndecidedError):
        near_floor(lambda: arb(10, 5))


def test_certain_coins():
    bits = SeededBits(1)
    assert all(is_below(bits.take(64), 64, lambda: arb(1), bits) for _ in range(50))
    assert not any(is_below(bits.take(64), 64, lambda: arb(0), bits) for _ in range(50))


@pytest.mark.parametrize("value", [Fraction(3, 2), Fraction(-1, 2), Logarithm(Fraction(3))])
def test_what_is_no_probability_is_refused(value):
    with pytest.raises(ParameterError, match="probability"):
        bernoulli_real(value, SeededBits(1))


def test_the_working_precision_is_restored():
    with working_precision(77):
        before = arb(1) / 3
        enclosed(THIRD, 500)
        after = arb(1) / 3
    assert before.rad() == after.rad()
