"""Sums of independent copies: the law of what n equal shares (`shares`) add up to, exactly.

A sum goes by its simplest name: of shape 1 it is the discrete Laplace law, of one term that term.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch

from flint import fmpq, fmpq_poly

from ...exact.number import ExactInput, whole
from .binomial import Binomial
from .discrete_gaussian import DiscreteGaussian
from .discrete_gaussian_sum import DiscreteGaussianSum
from .discrete_laplace import DiscreteLaplace
from .finite import FiniteLaw
from .law import Law
from .polya import Polya, PolyaDifference
from .skellam import Skellam

__all__ = ["sum_of"]


def sum_of(law: Law, count: ExactInput) -> Law:
    """The law of the sum of `count` >= 1 independent copies of X ~ law.

    Raises NotImplementedError where it has no closed form.
    """
    return _sum(law, whole(count, "count", at_least=1))


@singledispatch
def _sum(law: Law, count: int) -> Law:
    raise NotImplementedError(f"{type(law).__name__} has no closed form for sums")


@_sum.register
def _(law: DiscreteLaplace, count: int) -> Law:
    return law if count == 1 else PolyaDifference(count, law.scale)


@_sum.register
def _(law: PolyaDifference, count: int) -> Law:
    shape = count * law.shape
    return DiscreteLaplace(law.scale) if shape == 1 else PolyaDifference(shape, law.scale)


@_sum.register
def _(law: Polya, count: int) -> Law:
    return Polya(count * law.shape, law.scale)


@_sum.register
def _(law: Skellam, count: int) -> Law:
    return Skellam(count * law.variance)


@_sum.register
def _(law: DiscreteGaussian, count: int) -> Law:
    return law if count == 1 else DiscreteGaussianSum(count, law.sigma2)


@_sum.register
def _(law: DiscreteGaussianSum, count: int) -> Law:
    return sum_of(DiscreteGaussian(law.sigma2), count * law.count)


@_sum.register
def _(law: Binomial, count: int) -> Law:
    return Binomial(count * law.trials, law.success)


@_sum.register
def _(law: FiniteLaw, count: int) -> Law:
    """A power of the generating polynomial, on the lattice of the outcomes."""
    low, high = law.support
    step = math.gcd(*(x - low for x in law.outcomes)) or 1
    dense = [fmpq(0)] * ((high - low) // step + 1)
    for x, p in zip(law.outcomes, law.masses, strict=True):
        dense[(x - low) // step] = fmpq(p.numerator, p.denominator)
    power = fmpq_poly(dense) ** count
    return FiniteLaw(
        {count * low + step * k: Fraction(int(c.p), int(c.q)) for k, c in enumerate(power.coeffs())}
    )
