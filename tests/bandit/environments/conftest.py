"""What sums of encoded rewards are held to: the law itself, convolved from a PMF."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

LEVEL = 1e-6  # of every test of conformity; the seeds are fixed, so a failure repeats itself

Conforms = Callable[[NDArray[np.int64], NDArray[np.float64]], bool]


def power(pmf: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The law of a sum of `count` draws from `pmf` on 0, 1, ..., by plain convolution."""
    found = np.array([1.0])
    for _ in range(count):
        found = np.convolve(found, pmf)
    return found


def g_test(sample: NDArray[np.int64], pmf: NDArray[np.float64]) -> bool:
    """Does the sample look drawn from this PMF on 0, 1, ...? Cells are pooled to >= 20 expected."""
    assert sample.min() >= 0 and sample.max() < len(pmf)
    expected, seen = pmf * len(sample), np.bincount(sample, minlength=len(pmf))
    pooled: list[tuple[float, int]] = []
    mass, count = 0.0, 0
    for share, observed in zip(expected, seen, strict=True):
        mass, count = mass + share, count + int(observed)
        if mass >= 20:
            pooled.append((mass, count))
            mass, count = 0.0, 0
    pooled[-1] = (pooled[-1][0] + mass, pooled[-1][1] + count)
    statistic = 2 * sum(n * np.log(n / e) for e, n in pooled if n)
    return bool(statistic < chi2.isf(LEVEL, len(pooled) - 1))


@pytest.fixture
def conforms() -> Conforms:
    return g_test


@pytest.fixture
def convolved() -> Callable[[NDArray[np.float64], int], NDArray[np.float64]]:
    return power
