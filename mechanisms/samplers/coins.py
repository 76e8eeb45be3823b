"""Uniform integers, coins of probability p or e^(-gamma), and rewards rounded at random."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from attrs import field, frozen

from ...exact.number import ExactInput, ParameterError, exact, whole
from .bits import RandomBits


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
