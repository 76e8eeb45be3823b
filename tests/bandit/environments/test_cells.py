from __future__ import annotations

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.environments.rewards import Cells, check_sum, multinomial


def cells() -> Cells:
    return Cells(np.array([0, 1, 3, 4]), np.array([0.5, 0.2, 0.25, 0.05]))


def test_sums_conform_to_the_convolution(conforms, convolved) -> None:
    pmf = np.array([0.5, 0.2, 0.0, 0.25, 0.05])
    for count in (1, 2, 5):
        found = cells().sums(np.random.default_rng(count), count, 20_000)
        assert found.dtype == np.int64
        assert conforms(found, convolved(pmf, count))
        assert not conforms(np.minimum(found + 1, 4 * count), convolved(pmf, count))


def test_mean() -> None:
    assert cells().mean == pytest.approx(0.2 + 0.75 + 0.2)


def test_likeliest_cell_is_drawn_last_and_comes_back_to_its_place() -> None:
    masses = np.array([1e-300, 1 - 1e-9, 1e-9, 0.0])
    ((part, counts),) = multinomial(np.random.default_rng(1), 10**9, masses, 50)
    assert (part.start, part.stop) == (0, 50)
    assert np.all(counts.sum(axis=1) == 10**9)
    assert np.all(counts[:, [0, 3]] == 0)
    assert 0 < counts[:, 2].mean() < 2 and np.all(counts[:, 1] > 10**9 - 20)


def test_parts_cover_every_sum() -> None:
    masses = np.full(300_000, 1 / 300_000)
    parts = [part for part, _ in multinomial(np.random.default_rng(2), 10, masses, 8)]
    assert len(parts) > 1  # never more than about a million counts at once
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(8))


def test_limits() -> None:
    check_sum(1 << 30, 1 << 32)
    with pytest.raises(ParameterError, match=r"count \* precision must be below 2\^63"):
        check_sum(1 << 31, 1 << 32)
    with pytest.raises(ParameterError, match="count must be at least 0, got -1"):
        check_sum(-1, 1)
    largest = Cells(np.array([0, 1 << 33]), np.array([0.5, 0.5]))
    with pytest.raises(ParameterError, match=r"2\^63"):
        largest.sums(np.random.default_rng(0), 1 << 30, 1)
