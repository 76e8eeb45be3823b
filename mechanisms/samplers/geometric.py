"""Geometric variables (successes before the first failure); discrete Laplace and Gaussian noise.

P(X >= x) = b^x, x >= 0, for b = e^(-1/scale). A rational scale needs integers only; for any other
one the binary digits of X are independent coins. Of rational parameters these
draws are, bit for bit, those of programs whose law is proved (`verify/kernel/theory/Samplers.v`):
bits in another order are another program.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from attrs import frozen
from flint import arb

from ...exact.number import Formula, ParameterError, Real, ball
from ...exact.precision import START, working_precision
from .bits import RandomBits
from .coins import Chance, below, coin_exp

_LONGEST = 4096  # binary digits


def geometric(scale: Real, bits: RandomBits) -> int:
    """X >= 0 with P(X >= x) = e^(-x/scale), scale > 0."""
    if isinstance(scale, Fraction):
        if scale <= 0:
            raise ParameterError(f"scale must be above 0, got {scale}")
        return geometric_exp(scale.numerator, scale.denominator, bits)
    return _digits(scale).draw(bits)


def geometric_exp(numerator: int, denominator: int, bits: RandomBits) -> int:
    """X >= 0 with P(X >= x) = e^(-x/scale), scale = t/d = numerator/denominator > 0.

    Let Z have P(Z >= z) = e^(-z/t) on the integers z >= 0: then Z = U + t V, where V counts coins
    of probability 1/e until one fails and U, independent of V, has mass proportional to e^(-u/t)
    on 0, ..., t - 1 (a uniform one, accepted with probability e^(-u/t)). And X = floor(Z/d):
    P(Z >= x d) = e^(-x d/t). Canonne, Kamath, Steinke (NeurIPS 2020), Algorithm 2.
    """
    u = below(numerator, bits)
    while not coin_exp(u, numerator, bits):
        u = below(numerator, bits)
    v = 0
    while coin_exp(1, 1, bits):
        v += 1
    return (u + numerator * v) // denominator


@frozen
class _Digits:
    """X = 2^K V + sum of 2^i B_i over i < K, with V and the binary digits B_i independent.

    For b^x factorises over the digits of x: P(B_i = 1) = b^(2^i)/(1 + b^(2^i)), and V is geometric
    with b^(2^K). Right for every K; fast when b^(2^K) is near 1/e.
    """

    digits: tuple[Chance, ...]
    block: Chance

    def draw(self, bits: RandomBits) -> int:
        """One X."""
        found = 0
        for place, digit in enumerate(self.digits):
            if digit.draw(bits):
                found |= 1 << place
        while self.block.draw(bits):
            found += 1 << len(self.digits)
        return found


@lru_cache(maxsize=64)
def _digits(scale: Formula) -> _Digits:
    def rate() -> arb:
        return 1 / ball(scale)  # -log b

    with working_precision(START):
        known = rate()
        if not known > 0:
            raise ParameterError(f"scale must be above 0, its inverse is {known}")
        count = 0
        while count < _LONGEST and known * 2**count < 1:
            count += 1

    def digit(place: int) -> Callable[[], arb]:
        return lambda: 1 / (1 + (rate() * 2**place).exp())

    block = Chance(lambda: (-rate() * 2**count).exp())
    return _Digits(tuple(Chance(digit(place)) for place in range(count)), block)


def discrete_laplace(scale: Real, bits: RandomBits) -> int:
    """X with P(X = x) proportional to e^(-|x|/scale), scale > 0."""
    if isinstance(scale, Fraction):
        if scale <= 0:
            raise ParameterError(f"scale must be above 0, got {scale}")
        return discrete_laplace_exp(scale.numerator, scale.denominator, bits)
    # the difference of two geometric variables: sum over y of b^(|x| + y) b^y, up to a constant
    return geometric(scale, bits) - geometric(scale, bits)


def discrete_laplace_exp(numerator: int, denominator: int, bits: RandomBits) -> int:
    """`discrete_laplace` for scale = numerator/denominator, in integers only.

    A geometric magnitude and a fair sign, where -0 is refused: else 0 would count twice.
    Canonne, Kamath, Steinke (NeurIPS 2020), Algorithm 2.
    """
    while True:
        size = geometric_exp(numerator, denominator, bits)
        if bits.take(1):
            return size
        if size:
            return -size


def discrete_gaussian_ratio(n: int, d: int, bits: RandomBits) -> int:
    """X with P(X = x) proportional to e^(-x^2/(2 sigma2)), sigma2 = n/d > 0.

    Y is discrete Laplace of scale t = floor(sqrt(sigma2)) + 1, accepted with probability
    e^(-gamma), gamma = (|Y| - sigma2/t)^2/(2 sigma2): the exponents |y|/t + gamma add up to
    y^2/(2 sigma2) + const. In integers, gamma = (|Y| d t - n)^2/(2 n d t^2).
    Canonne, Kamath, Steinke (NeurIPS 2020), Algorithm 3.
    """
    t = math.isqrt(n // d) + 1
    step, under = d * t, 2 * n * d * t * t
    while True:
        y = discrete_laplace_exp(t, 1, bits)
        if coin_exp((abs(y) * step - n) ** 2, under, bits):
            return y
