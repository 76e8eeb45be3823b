"""Exact draws of a law: from random bits to integers, with no floating point in between.

The discrete Laplace and Gaussian laws of rational parameters, and finite laws, need integers only;
the others compare integers with certified enclosures, as narrow as each comparison needs. How long
a draw takes depends on its outcome: whoever can time single draws learns something about them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial, singledispatch
from typing import TypeAlias

from ...exact.number import ExactInput, ParameterError, whole
from ..laws.binomial import Binomial
from ..laws.discrete_gaussian import DiscreteGaussian
from ..laws.discrete_gaussian_sum import DiscreteGaussianSum
from ..laws.discrete_laplace import DiscreteLaplace
from ..laws.finite import FiniteLaw
from ..laws.law import Law
from ..laws.polya import Polya, PolyaDifference
from ..laws.skellam import Skellam
from .binomial import binomial_real
from .bits import RandomBits
from .discrete_gaussian import discrete_gaussian_ratio
from .discrete_laplace import discrete_laplace, discrete_laplace_exp
from .envelope import Envelope
from .finite import Table
from .gaussian_sum import gaussian_sum_envelope
from .poisson import poisson_envelope
from .polya import polya_envelope

__all__ = ["Sampler", "draw", "sampler"]

Sampler: TypeAlias = Callable[[RandomBits], int]

_FEW = 8  # discrete Gaussians are added one by one up to here


def draw(law: Law, bits: RandomBits, size: ExactInput) -> list[int]:
    """`size` independent exact draws of this law, whose outcomes are integers of any size.

    bits: `SystemBits()` for a release, `SeededBits(seed)` for tests.
    Raises ParameterError for a law without a sampler.
    """
    one = sampler(law)
    return [one(bits) for _ in range(whole(size, "size", at_least=0))]


@singledispatch
def sampler(law: Law) -> Sampler:
    """The function that makes one exact draw of this law from random bits.

    Raises ParameterError for a law that has none.
    """
    raise ParameterError(f"law {type(law).__name__} has no exact sampler")


@sampler.register
def _(law: DiscreteLaplace) -> Sampler:
    if isinstance(law.scale, Fraction):
        return partial(discrete_laplace_exp, law.scale.numerator, law.scale.denominator)
    return partial(discrete_laplace, law.scale)


@sampler.register
def _(law: DiscreteGaussian) -> Sampler:
    return partial(discrete_gaussian_ratio, law.sigma2.numerator, law.sigma2.denominator)


@sampler.register
def _(law: DiscreteGaussianSum) -> Sampler:
    if law.count > _FEW:
        return gaussian_sum_envelope(law).draw
    one = sampler(DiscreteGaussian(law.sigma2))
    return lambda bits: sum(one(bits) for _ in range(law.count))


@sampler.register
def _(law: Skellam) -> Sampler:
    return _difference(poisson_envelope(law.variance / 2))


@sampler.register
def _(law: Polya) -> Sampler:
    return polya_envelope(law.shape, law.scale).draw


@sampler.register
def _(law: PolyaDifference) -> Sampler:
    if law.shape == 1:
        return sampler(DiscreteLaplace(law.scale))
    return _difference(polya_envelope(law.shape, law.scale))


@sampler.register
def _(law: Binomial) -> Sampler:
    return partial(binomial_real, law.trials, law.success)


@sampler.register
def _(law: FiniteLaw) -> Sampler:
    table = Table(law.masses)
    return lambda bits: law.outcomes[table.draw(bits)]


def _difference(histogram: Envelope) -> Sampler:
    return lambda bits: histogram.draw(bits) - histogram.draw(bits)
