import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.environments.rewards import Cells, check_sum


def cells() -> Cells:
    return Cells(np.array([0, 1, 3, 4]), np.array([0.5, 0.2, 0.25, 0.05]))


def test_sums_conform_to_the_convolution(conforms, convolved) -> None:
    pmf = np.array([0.5, 0.2, 0.0, 0.25, 0.05])
    for count in (1, 2, 5):
        found = cells().sums(np.random.default_rng(count), count, 20_000)
        assert found.dtype == np.int64
        assert conforms(found, convolved(pmf, count))
        assert not conforms(np.minimum(found + 1, 4 * count), convolved(pmf, count))


def test_limits() -> None:
    check_sum(1 << 30, 1 << 32)
    with pytest.raises(ParameterError, match=r"count \* precision must be below 2\^63"):
        check_sum(1 << 31, 1 << 32)
    with pytest.raises(ParameterError, match="count must be at least 0, got -1"):
        check_sum(-1, 1)
    largest = Cells(np.array([0, 1 << 33]), np.array([0.5, 0.5]))
    with pytest.raises(ParameterError, match=r"2\^63"):
        largest.sums(np.random.default_rng(0), 1 << 30, 1)
