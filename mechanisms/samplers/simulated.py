"""Fast draws in floating point, for simulation only: never for a release.

A float has finitely many values, and noise made from it has gaps and atoms that reveal what it
hides (Mironov, "On Significance of the Least Significant Bits for Differential Privacy", CCS 2012).
What is released is drawn by `draw`, from bits alone. Here thousands of noises are wanted in
microseconds, and a law that is right to about 1e-12 in total variation is enough.
"""

from __future__ import annotations

import math
from functools import lru_cache, singledispatch
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...exact.number import ParameterError, Real, ball
from ...exact.precision import START, working_precision
from ..laws.binomial import Binomial
from ..laws.discrete_gaussian import DiscreteGaussian
from ..laws.discrete_gaussian_sum import DiscreteGaussianSum
from ..laws.discrete_laplace import DiscreteLaplace
from ..laws.finite import FiniteLaw
from ..laws.law import Law
from ..laws.polya import Polya, PolyaDifference
from ..laws.skellam import Skellam

__all__ = ["simulate"]

_Draws: TypeAlias = NDArray[np.int64]
_WIDEST = 2.0**46  # of a standard deviation: 100 of them are integers that floats tell apart
_EVEN = 2.0**40  # rates from which the normal expansion is closer than logs of large factorials
_TABLE = 400  # sigma2 up to which discrete Gaussians come from a table
_NEGLIGIBLE = 1e-13


@singledispatch
def simulate(law: Law, rng: np.random.Generator, size: int) -> _Draws:
    """`size` independent draws of the law, in floats: for simulation only, never for a release.

    Raises ParameterError for a law that has no such sampler, and for one so wide that its
    outcomes do not fit (standard deviations beyond 7e13).
    """
    raise ParameterError(f"law {type(law).__name__} has no sampler for simulation")


@simulate.register
def _(law: DiscreteLaplace, rng: np.random.Generator, size: int) -> _Draws:
    """The difference of two geometric variables of success 1 - e^(-1/scale)."""
    scale = _float(law.scale)
    _fits(2 * scale)
    success = -math.expm1(-1 / scale)
    return rng.geometric(success, size) - rng.geometric(success, size)


@simulate.register
def _(law: Polya, rng: np.random.Generator, size: int) -> _Draws:
    """A Poisson variable whose rate is Gamma: shape r, scale b/(1 - b), b = e^(-1/scale).

    Footnote 3 of Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits"
    (ICLR 2023). Its generating function is (1 - (b/(1-b)) (z - 1))^(-r) = ((1-b)/(1-bz))^r. The
    implementation that was published with the paper has (1 - b)/b instead.
    """
    shape, odds = float(law.shape), 1 / math.expm1(min(700.0, 1 / _float(law.scale)))
    _fits(shape * odds + 100 * odds)
    return _poisson(odds * rng.standard_gamma(shape, size), rng)


@simulate.register
def _(law: PolyaDifference, rng: np.random.Generator, size: int) -> _Draws:
    if law.shape == 1:
        return simulate(DiscreteLaplace(law.scale), rng, size)
    both = simulate(Polya(law.shape, law.scale), rng, 2 * size)
    return both[:size] - both[size:]


@simulate.register
def _(law: Skellam, rng: np.random.Generator, size: int) -> _Draws:
    """The difference of two Poisson variables.

    Where they are large, a normal variable: by Edgeworth's expansion (no skewness, excess kurtosis
    1/variance) the total variation is of order 1/variance.
    """
    variance = float(law.variance)
    _fits(math.sqrt(variance))
    if variance > _EVEN:
        return _rounded(rng.normal(0, math.sqrt(variance), size))
    return rng.poisson(variance / 2, size) - rng.poisson(variance / 2, size)


@simulate.register
def _(law: DiscreteGaussian, rng: np.random.Generator, size: int) -> _Draws:
    """By inversion of a table, or by rejection from discrete Laplace variables (see `gaussian`)."""
    sigma2 = float(law.sigma2)
    _fits(math.sqrt(sigma2))
    if sigma2 <= _TABLE:
        outcomes, levels, _ = _gaussian_table(sigma2)
        return outcomes[np.searchsorted(levels, rng.random(size), side="right")]
    scale = math.floor(math.sqrt(sigma2)) + 1
    success, found, missing = -math.expm1(-1 / scale), [], size
    while missing > 0:
        many = missing + missing // 2 + 16
        noise = rng.geometric(success, many) - rng.geometric(success, many)
        excess = np.abs(noise) - sigma2 / scale
        kept = noise[rng.standard_exponential(many) >= excess * excess / (2 * sigma2)][:missing]
        found.append(kept)
        missing -= len(kept)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


@simulate.register
def _(law: DiscreteGaussianSum, rng: np.random.Generator, size: int) -> _Draws:
    """One discrete Gaussian of variance count sigma2 where that is proved to be the same.

    `gaussian_gap` bounds the log ratio of the two laws, hence their total variation. Where sigma2
    is small it is not the same: then from how often each outcome occurs among the `count` terms.
    """
    if _is_gaussian(law):
        return simulate(DiscreteGaussian(law.count * law.sigma2), rng, size)
    _fits(_spread(law.count))
    outcomes, _, masses = _gaussian_table(float(law.sigma2))
    counts: _Draws = rng.multinomial(law.count, masses, size)
    return counts @ outcomes


@simulate.register
def _(law: Binomial, rng: np.random.Generator, size: int) -> _Draws:
    _fits(_spread(law.trials))
    return rng.binomial(law.trials, _float(law.success), size)


@simulate.register
def _(law: FiniteLaw, rng: np.random.Generator, size: int) -> _Draws:
    _fits(_spread(max(map(abs, law.support))))
    levels = np.cumsum([float(mass) for mass in law.masses])[:-1]
    outcomes = np.array(law.outcomes, dtype=np.int64)
    return outcomes[np.searchsorted(levels, rng.random(size), side="right")]


def _fits(deviation: float) -> None:
    if not deviation <= _WIDEST:
        raise ParameterError(
            f"law is too wide for simulation in 64 bits: deviation {deviation:.3g}, "
            f"at most {_WIDEST:.3g}"
        )


def _spread(largest: int) -> float:
    """The deviation that `_fits` has to judge, of a law whose outcomes reach this far."""
    return min(largest, 1 << 60) / 128


def _float(value: Real) -> float:
    with working_precision(START):
        return float(ball(value).mid())


def _rounded(values: NDArray[np.float64]) -> _Draws:
    found: _Draws = np.rint(values).astype(np.int64)
    return found


def _poisson(rates: NDArray[np.float64], rng: np.random.Generator) -> _Draws:
    """Poisson variables of these rates; the largest by the expansion of Cornish and Fisher."""
    large = rates > _EVEN
    if not large.any():
        return rng.poisson(rates)
    found: _Draws = rng.poisson(np.where(large, 0, rates))
    far = rates[large]
    z = rng.standard_normal(len(far))
    found[large] = _rounded(far + np.sqrt(far) * z + (z * z - 1) / 6)
    return found


@lru_cache(maxsize=64)
def _gaussian_table(sigma2: float) -> tuple[_Draws, NDArray[np.float64], NDArray[np.float64]]:
    """The outcomes within ten standard deviations, the levels between them, and their masses."""
    reach = math.ceil(10 * math.sqrt(sigma2)) + 1
    outcomes = np.arange(-reach, reach + 1, dtype=np.int64)
    weights = np.exp(-(outcomes.astype(np.float64) ** 2) / (2 * sigma2))
    masses = weights / weights.sum()
    return outcomes, np.cumsum(masses)[:-1], masses


@lru_cache(maxsize=64)
def _is_gaussian(law: DiscreteGaussianSum) -> bool:
    with working_precision(START):
        return bool(law.gaussian_gap() < _NEGLIGIBLE)
