""""""

from fractions import Fraction

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.environments.rewards import Bernoulli, Cells, RewardTable, check_sum, drawn_sums

TABLE = RewardTable(("0", "1/3", "0.75", 1), ("0.1", "0.2", "0.3", "0.4"))


def dense(table: RewardTable, precision: int) -> np.ndarray:
    cells = table.encoded(precision)
    found = np.zeros(precision + 1)
    found[cells.values] = cells.probabilities
    return found


def test_cells_are_at_most_two_a_value_and_keep_the_mean() -> None:
    assert TABLE.mean == float(Fraction(1, 15) + Fraction(9, 40) + Fraction(2, 5))
    for precision in (1, 2, 3, 12, 1000, 10**9):
        cells = TABLE.encoded(precision)
        assert len(cells.values) <= 8 and np.all(np.diff(cells.values) > 0)
        assert cells.values.min() >= 0 and cells.values.max() <= precision
        assert cells.probabilities.sum() == pytest.approx(1, abs=1e-15)
        assert cells.mean / precision == pytest.approx(TABLE.mean, rel=1e-14)
    # g = 4: 1/3 lies a third of the way from 1/4 to 2/4.
    assert dense(TABLE, 4) == pytest.approx([0.1, 0.2 * 2 / 3, 0.2 / 3, 0.3, 0.4], rel=1e-15)


@pytest.mark.parametrize(("precision", "count"), [(1, 7), (5, 2), (5, 6), (40, 4)])
def test_sums_conform(precision: int, count: int, conforms, convolved) -> None:
    truth = convolved(dense(TABLE, precision), count)
    assert conforms(TABLE.sums(np.random.default_rng(1), precision, count, 20_000), truth)
    assert conforms(drawn_sums(TABLE, np.random.default_rng(2), precision, count, 20_000), truth)


@pytest.mark.slow
def test_many_values_are_summed_without_cells(conforms, convolved) -> None:
    values = tuple(Fraction(k * k, 100**2) for k in range(101))
    table = RewardTable(values, tuple(Fraction(k, 5050) for k in range(101)))
    for precision, count, size in [(7, 2, 20_000), (7, 150, 5000), (1000, 101, 5000)]:
        truth = convolved(dense(table, precision), count)
        found = table.sums(np.random.default_rng(4), precision, count, size)
        assert conforms(found, truth)
        assert not conforms(np.minimum(found + 1 + len(truth) // 30, len(truth) - 1), truth)


def test_real_sums() -> None:
    for count in (0, 3, 10_000):
        found = TABLE.real_sums(np.random.default_rng(3), count, 500)
        spread = (0.2 / 9 + 0.3 * 0.5625 + 0.4 - TABLE.mean**2) ** 0.5
        assert abs(found.mean() - count * TABLE.mean) <= 5 * spread * (count / 500) ** 0.5


@pytest.mark.parametrize("probability", ["0.003", "0.3", "0.9"])
def test_coins(probability: str, conforms, convolved) -> None:
    coin = Bernoulli(probability)
    assert coin.mean == float(probability)
    masses = np.array([1 - coin.mean, 0, 0, coin.mean])
    cells = coin.encoded(3)
    assert np.array_equal(cells.values, [0, 3])
    assert np.array_equal(cells.probabilities, [1 - coin.mean, coin.mean])
    for found in (
        coin.sums(np.random.default_rng(4), 3, 5, 20_000),
        drawn_sums(coin, np.random.default_rng(5), 3, 5, 20_000),
        cells.sums(np.random.default_rng(6), 5, 20_000),
    ):
        assert conforms(found, convolved(masses, 5))
    assert np.all(coin.real_sums(np.random.default_rng(7), 9, 10) <= 9)
    assert np.all(Bernoulli(1).sums(np.random.default_rng(7), 3, 9, 10) == 27)
    assert np.all(Bernoulli(0).encoded(3).sums(np.random.default_rng(7), 9, 10) == 0)
    with pytest.raises(ParameterError, match=r"2\^63"):
        coin.sums(np.random.default_rng(8), 1 << 40, 1 << 30, 1)


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
