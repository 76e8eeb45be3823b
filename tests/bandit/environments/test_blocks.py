import numpy as np
import pytest

from exactdp.bandit.environments.blocks import Blocks, offset_sums, split
from exactdp.bandit.environments.gaussian import ClippedGaussian


def blocks(law: ClippedGaussian, precision: int, bits: int) -> Blocks:
    return split(
        lambda cells: law.interior(cells, precision),
        law.ends(precision),
        precision,
        bits,
        precision * law.location,
        1 / (precision * law.sigma),
    )


def _cells(precision: int) -> np.ndarray:
    return np.arange(1, precision)


def _offsets(found: Blocks) -> np.ndarray:
    return np.concatenate([np.arange(size) for size in found.sizes])


CASES = [
    ("0.5", "0.1", 64, 1),
    ("0.5", "0.1", 65, 2),
    ("0.31", "0.1", 1000, 3),
    ("0.62", "0.1", 1001, 4),
    ("0.62", "0.1", 1000, 6),
    ("0.9", "0.02", 3000, 5),
    ("0", "0.3", 500, 3),
    ("1", "5", 777, 4),
    ("0.4", "0.01", 100, 3),
]


@pytest.mark.parametrize(("location", "sigma", "precision", "bits"), CASES)
def test_the_split_stays_between_zero_and_the_pmf(
    location: str, sigma: str, precision: int, bits: int
) -> None:
    law = ClippedGaussian(location, sigma)
    found = blocks(law, precision, bits)
    assert np.all(found.bits <= bits) and len(found.bits) <= (precision >> bits) + bits
    assert np.array_equal(np.repeat(found.starts, found.sizes) + _offsets(found), _cells(precision))
    cells, offsets = _cells(precision), _offsets(found)
    which = np.repeat(np.arange(len(found.bits)), found.sizes)
    pmf, lower = law.interior(cells, precision), found.lower(which, offsets)
    slack = 1e-13 * pmf
    assert np.all(found.base >= 0)
    assert np.all(lower <= pmf + slack)
    assert np.all(pmf - lower <= found.envelope[which] + slack)
    # The masses of the pieces are those of the cells.
    assert sum(map(np.sum, found.masses)) == pytest.approx(lower.sum(), rel=1e-12)
    assert np.sum(found.ends) + pmf.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.quick_cases(6)
@pytest.mark.slow_cases("1-0.4-0.01-100-3", "2-0.4-0.01-100-3")
@pytest.mark.parametrize(("location", "sigma", "precision", "bits"), CASES)
@pytest.mark.parametrize("count", [1, 2])
def test_sums_conform(
    location: str, sigma: str, precision: int, bits: int, count: int, conforms, convolved
) -> None:
    law = ClippedGaussian(location, sigma)
    found = blocks(law, precision, bits).sums(np.random.default_rng(count), count, 40_000)
    truth = convolved(law.encoded(precision).probabilities, count)
    assert conforms(found, truth)
    moved = np.minimum(found + 1 + precision // 20, len(truth) - 1)
    assert not conforms(moved, truth)


@pytest.mark.parametrize("bits", [1, 2, 5])
def test_offsets_are_uniform_and_minima_of_two(bits: int, conforms) -> None:
    size, rng = 30_000, np.random.default_rng(9)
    width = 1 << bits
    none = np.zeros((bits + 1, size), dtype=np.int64)
    one = none.copy()
    one[bits] = 1
    uniform = np.full(width, 1 / width)
    assert conforms(offset_sums(rng, one, none), uniform)
    weights = (2 * (width - np.arange(width)) - 1) / width**2
    assert conforms(offset_sums(rng, none, one), weights)
    both = offset_sums(rng, one, 2 * one)
    assert conforms(both, np.convolve(uniform, np.convolve(weights, weights)))
    smaller = none.copy()
    smaller[bits - 1] = 1  # an offset with one bit less
    half = np.full(width // 2, 2 / width)
    assert conforms(offset_sums(rng, smaller, one), np.convolve(weights, half))
