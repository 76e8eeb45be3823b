"""Coins whose probability is a real number that is known by enclosures.

A uniform U in [0, 1) is revealed bit by bit, and the probability enclosed more and more narrowly,
until it is certain whether U lies below: true with exactly that probability. What is compared is
integers: after s bits U is in [u, u + 1) 2^-s and the probability in [low, high] 2^-s. At each s
this stays open with probability at most (high - low + 1) 2^-s.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

from attrs import define, frozen
from flint import arb, fmpz

from ...exact.enclosure import UndecidedError
from ...exact.number import Formula, ParameterError, Real, ball
from ...exact.precision import working_precision
from .bits import RandomBits
from .coins import coin

_FIRST = 64  # bits of U that decide nearly always
_GUARD = 32  # bits by which the enclosure is narrower than what is known of U
_MOST = 1 << 15  # bits of U: an enclosure that does not narrow must not go on for ever


@frozen(slots=False)
class Chance:
    """A probability that is needed often: its formula, and its enclosure in 64 bits."""

    formula: Callable[[], arb]

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The enclosure: integers times 2^-64."""
        return enclosed(self.formula, _FIRST)

    def draw(self, bits: RandomBits) -> bool:
        """True with this probability."""
        u = bits.take(_FIRST)
        low, high = self.ends
        return u < low or (u < high and Uniform(u, _FIRST).is_below(self.formula, bits))


def bernoulli_real(probability: Real, bits: RandomBits) -> bool:
    """True with this probability: a rational, or a formula that encloses it.

    Raises ParameterError for a probability outside 0..1, UndecidedError where its enclosures do
    not narrow.
    """
    if isinstance(probability, Fraction):
        if not 0 <= probability <= 1:
            raise ParameterError(f"probability must be between 0 and 1, got {probability}")
        return coin(probability.numerator, probability.denominator, bits)
    formula: Formula = probability
    _check(formula)
    return Uniform(bits.take(_FIRST), _FIRST).is_below(formula.ball, bits)


@define
class Uniform:
    """U in [u, u + 1) 2^-seen: what is known of it, which stays known when more is drawn.

    U may have an integer part.
    """

    u: int
    seen: int

    def is_below(self, bound: Callable[[], arb], bits: RandomBits) -> bool:
        """Is U below the bound? Further digits are taken as they are needed.

        Raises UndecidedError where the enclosures of the bound do not narrow.
        """
        while self.seen <= _MOST:
            low, high = enclosed(bound, self.seen)
            if self.u < low:  # then u + 1 <= low
                return True
            if self.u >= high:
                return False
            more = max(self.seen, _FIRST)
            self.u, self.seen = (self.u << more) | bits.take(more), self.seen + more
        raise UndecidedError(f"a probability is not enclosed to {_MOST} bits")


def enclosed(formula: Callable[[], arb], places: int) -> tuple[int, int]:
    """Integers low <= value 2^places <= high."""
    with working_precision(places + _GUARD):
        value = formula()
        if not value.is_finite():
            return 0, 1 << (places + _MOST)  # of a value >= 0 nothing is known yet
        low, high = value.lower().man_exp(), (-value.upper()).man_exp()
    return _floor(low, places), -_floor(high, places)


def near_floor(formula: Callable[[], arb]) -> int:
    """The floor of a value >= 0 whose enclosures narrow, or one less."""
    places = _FIRST
    while places <= _MOST:
        low, high = enclosed(formula, places)
        if high - low <= 1 << places:
            return low >> places
        places *= 2
    raise UndecidedError("a number is not enclosed to within 1")


def _floor(number: tuple[fmpz, fmpz], places: int) -> int:
    mantissa, exponent = map(int, number)
    shift = exponent + places
    return mantissa << shift if shift >= 0 else mantissa >> -shift


def _check(formula: Formula) -> None:
    with working_precision(_FIRST):
        value = ball(formula)
    if value < 0 or value > 1:
        raise ParameterError(f"probability must be between 0 and 1, got {value}")
