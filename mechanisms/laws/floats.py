"""What fast draws in floating point share: for simulation only, never for a release.

A float has finitely many values, and noise made from it has gaps and atoms that reveal what it
hides (Mironov, "On Significance of the Least Significant Bits for Differential Privacy", CCS 2012).
What is released is drawn by `Law.sampler`, from bits alone. In `Law.simulate` thousands of noises
are wanted in microseconds, and a law that is right to about 1e-12 in total variation is enough.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...exact.number import ParameterError, Real, ball
from ...exact.precision import START, working_precision

Draws: TypeAlias = NDArray[np.int64]
EVEN = 2.0**40  # rates from which the normal expansion is closer than logs of large factorials
_WIDEST = 2.0**46  # of a standard deviation: 100 of them are integers that floats tell apart


def check_width(deviation: float) -> None:
    """Refuse a law whose outcomes do not fit."""
    if not deviation <= _WIDEST:
        raise ParameterError(
            f"law is too wide for simulation in 64 bits: deviation {deviation:.3g}, "
            f"at most {_WIDEST:.3g}"
        )


def spread(largest: int) -> float:
    """The deviation that `check_width` has to judge, of a law whose outcomes go this far."""
    return min(largest, 1 << 60) / 128


def to_float(value: Real) -> float:
    """The nearest float, about."""
    with working_precision(START):
        return float(ball(value).mid())


def poisson(rates: NDArray[np.float64], rng: np.random.Generator) -> Draws:
    """Poisson variables of these rates; the largest by the expansion of Cornish and Fisher."""
    large = rates > EVEN
    if not large.any():
        return rng.poisson(rates)
    found: Draws = rng.poisson(np.where(large, 0, rates))
    far = rates[large]
    z = rng.standard_normal(len(far))
    found[large] = np.rint(far + np.sqrt(far) * z + (z * z - 1) / 6).astype(np.int64)
    return found


@lru_cache(maxsize=64)
def gaussian_table(sigma2: float) -> tuple[Draws, NDArray[np.float64], NDArray[np.float64]]:
    """The outcomes within ten standard deviations, the levels between them, and their masses."""
    last = math.ceil(10 * math.sqrt(sigma2)) + 1
    outcomes = np.arange(-last, last + 1, dtype=np.int64)
    weights = np.exp(-(outcomes.astype(np.float64) ** 2) / (2 * sigma2))
    masses = weights / weights.sum()
    return outcomes, np.cumsum(masses)[:-1], masses
