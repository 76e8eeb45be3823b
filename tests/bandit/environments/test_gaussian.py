import mpmath
import numpy as np
import pytest
from mpmath import mpf

from exactdp.bandit.environments.gaussian import ClippedGaussian
from exactdp.bandit.environments.rewards import drawn_sums


def cell(location: str, sigma: str, precision: int, j: int) -> mpf:
    """P(encoded = j) from second differences of E max(0, t - Z), at high precision."""
    with mpmath.workdps(340):
        mean, spread = mpf(location), mpf(sigma)

        def below(t: mpf) -> mpf:  # P(Z <= t)
            return mpmath.erfc((mean - t) / spread / mpmath.sqrt(2)) / 2

        def mass_below(t: mpf) -> mpf:  # E max(0, t - Z)
            z = (t - mean) / spread
            return (t - mean) * below(t) + spread * mpmath.npdf(z)

        low, middle, high = mpf(j - 1) / precision, mpf(j) / precision, mpf(j + 1) / precision
        if 0 < j < precision:
            return precision * (mass_below(high) - 2 * mass_below(middle) + mass_below(low))
        if j == 0:
            # P(Z <= 0) and E (1 - gZ) on (0, 1/g)
            return precision * (mass_below(high) - mass_below(middle))
        # By reflection: the mean of the upper half-hat, and P(Z >= 1).
        return 1 - precision * (mass_below(middle) - mass_below(low))


@pytest.mark.slow_cases("0.3-0.001-3")
@pytest.mark.parametrize(
    ("location", "sigma", "precision"),
    [
        ("0.5", "0.1", 1),
        ("0.25", "0.1", 2),
        ("0.75", "0.1", 10),
        ("0.3", "0.02", 7),
        ("0.3", "0.001", 3),
        ("0", "0.1", 50),
        ("1", "0.5", 9),
        ("0.46", "0.1", 1000),
        ("0.6", "1000", 30),
        ("0.55", "0.1", 100_000),
    ],
)
def test_cells_match_the_integrals_also_in_the_tails(
    location: str, sigma: str, precision: int
) -> None:
    cells = ClippedGaussian(location, sigma).encoded(precision)
    assert len(cells.values) == len(cells.probabilities) == precision + 1
    assert np.array_equal(cells.values, np.arange(precision + 1))
    assert cells.probabilities.sum() == pytest.approx(1, abs=1e-13)
    asked = sorted({*range(min(precision + 1, 12)), precision // 3, precision - 1, precision})
    for j in asked:
        truth = cell(location, sigma, precision, j)
        if truth > 1e-300:
            assert cells.probabilities[j] == pytest.approx(float(truth), rel=2e-12)
        else:
            assert cells.probabilities[j] < 1e-299


@pytest.mark.slow_cases("0.01-0")
@pytest.mark.parametrize("location", ["0", "0.25", "0.5", "0.9", "1"])
@pytest.mark.parametrize("sigma", ["0.01", "0.1", "3"])
def test_mean_is_that_of_the_clipped_reward(location: str, sigma: str) -> None:
    law = ClippedGaussian(location, sigma)
    with mpmath.workdps(30):
        mean, spread = mpf(location), mpf(sigma)
        corners = [0, *sorted({min(1, max(0, mean + k * spread)) for k in (-6, 0, 6)}), 1]
        truth = mpmath.quad(
            lambda x: mpmath.erfc((x - mean) / spread / mpmath.sqrt(2)) / 2, corners
        )
    assert law.mean == pytest.approx(float(truth), rel=1e-12)
    for precision in (1, 3, 1000):  # randomized rounding keeps it
        assert law.encoded(precision).mean / precision == pytest.approx(law.mean, rel=1e-12)


def test_draws_have_the_mean_and_stay_in_range() -> None:
    law = ClippedGaussian("0.9", "0.2")
    draws = law.draw(np.random.default_rng(1), 100_000)
    assert draws.min() >= 0 and draws.max() == 1
    assert abs(draws.mean() - law.mean) < 5 * draws.std() / 100_000**0.5


@pytest.mark.slow
def test_each_way_of_summing_is_taken_and_has_the_same_law(conforms, convolved) -> None:
    law = ClippedGaussian("0.62")
    chosen = set()
    for precision, count, size in [(8, 3, 20_000), (1000, 3, 20_000), (6000, 2, 60_000)]:
        costs = law._costs(precision, count, size)
        chosen.add(int(np.argmin(costs)))
        truth = convolved(law.encoded(precision).probabilities, count)
        for way, found in enumerate(
            (
                law.sums(np.random.default_rng(2), precision, count, size),
                drawn_sums(law, np.random.default_rng(3), precision, count, size),
                law.encoded(precision).sums(np.random.default_rng(4), count, size // 10),
            )
        ):
            assert conforms(found, truth), (precision, count, way)
    assert chosen <= {0, 1, 2}
