"""Uniform integers, coins of probability p or e^(-gamma), and rewards rounded at random.

*Coins whose probability is a real number* that is known by enclosures.
A uniform U in [0, 1) is revealed bit by bit, and the probability enclosed more and more narrowly,
until it is certain whether U lies below: true with exactly that probability. What is compared is
integers: after s bits U is in [u, u + 1) 2^-s and the probability in [low, high] 2^-s. At each s
this stays open with probability at most (high - low + 1) 2^-s.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from attrs import define, field, frozen
from flint import arb, fmpz

from ...exact.enclosure import UndecidedError
from ...exact.number import ExactInput, Formula, ParameterError, Real, ball, exact, whole
from ...exact.precision import working_precision
from .bits import RandomBits

_FIRST = 64  # bits of U that decide nearly always
_GUARD = 32  # bits by which the enclosure is narrower than what is known of U
_MOST = 1 << 15  # bits of U: an enclosure that does not narrow must not go on for ever


def below(bound: int, bits: RandomBits) -> int:
    """A uniform integer in 0, ..., bound - 1, bound >= 1.

    All 2^k integers of k bits are equally likely, 2^(k-1) < bound <= 2^k, hence also those below
    the bound among themselves; one is found with probability above 1/2 at each try.
    """
    size = (bound - 1).bit_length()
    while (found := bits.take(size)) >= bound:
        pass
    return found


def bernoulli(probability: ExactInput, bits: RandomBits) -> bool:
    """True with this exact rational probability. Raises ParameterError outside 0..1."""
    p = exact(probability, "probability", at_least=0, at_most=1)
    return coin(p.numerator, p.denominator, bits)


def coin(numerator: int, denominator: int, bits: RandomBits) -> bool:
    """True with probability numerator/denominator in [0, 1]: of `denominator` equal chances."""
    return below(denominator, bits) < numerator


def coin_exp(numerator: int, denominator: int, bits: RandomBits) -> bool:
    """True with probability e^(-gamma), gamma = numerator/denominator >= 0.

    Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020,
    Algorithm 1 (after von Neumann 1951).
    gamma <= 1: let K be the first k >= 1 at which a coin of probability gamma/k fails. Then
    P(K > k) = gamma^k/k!, so P(K odd) = sum_k (-1)^k gamma^k/k! = e^(-gamma).
    gamma > 1: e^(-gamma) is a product of floor(gamma) factors 1/e and one for what is left.
    """
    whole, rest = divmod(numerator, denominator)
    for _ in range(whole):
        k = 2  # the first coin, of probability 1, does not fail
        while not below(k, bits):
            k += 1
        if k % 2 == 0:
            return False
    k, bound = 1, denominator
    while below(bound, bits) < rest:
        k += 1
        bound += denominator
    return k % 2 == 1


def rounded(reward: ExactInput, precision: ExactInput, bits: RandomBits) -> int:
    """Randomized rounding, g = precision >= 1: an integer in 0, ..., g of mean reward g.

    That is floor(reward g), plus 1 with probability reward g - floor(reward g).

    A reward is read like every other exact number: a float stands for the decimal that it prints
    as, so 0.1 is 1/10 and not the binary fraction next to it. The mean is then exactly reward g.
    Raises ParameterError for a reward outside 0..1 or a precision below 1.
    """
    g = whole(precision, "precision", at_least=1)
    scaled = exact(reward, "reward", at_least=0, at_most=1) * g
    found, rest = divmod(scaled.numerator, scaled.denominator)
    return found + coin(rest, scaled.denominator, bits)


def _ends(masses: Sequence[Fraction]) -> tuple[int, ...]:
    if sum(masses) != 1 or min(masses) < 0:
        raise ParameterError(f"masses must be >= 0 and sum to exactly 1, got {sum(masses)}")
    common = math.lcm(*(mass.denominator for mass in masses))
    return tuple(accumulate(int(mass * common) for mass in masses))


@frozen
class Table:
    """Draws the index i with probability masses[i]. Raises ParameterError unless they sum to 1."""

    ends: tuple[int, ...] = field(alias="masses", converter=_ends)

    def draw(self, bits: RandomBits) -> int:
        """One index."""
        return bisect_right(self.ends, below(self.ends[-1], bits))


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
        return bernoulli(probability, bits)
    formula: Formula = probability
    with working_precision(_FIRST):
        value = ball(formula)
    if value < 0 or value > 1:
        raise ParameterError(f"probability must be between 0 and 1, got {value}")
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
