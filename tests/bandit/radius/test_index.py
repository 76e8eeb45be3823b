"""Upper confidence bounds against exact laws, and against a minimisation over all t."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from exactdp import ParameterError
from exactdp.bandit.radius.index import Look, agrees, index
from exactdp.bandit.radius.plan import Decoding
from exactdp.exact.number import Logarithm
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace
from exactdp.mechanisms.laws.finite import FiniteLaw
from exactdp.mechanisms.laws.floats import to_float
from exactdp.mechanisms.laws.polya import over
from exactdp.mechanisms.laws.skellam import Skellam

P = Fraction(1, 10)
# p(k) is as (5/6)^|k|: its scale, and where its transform ends, are formulas
FORMULA = DiscreteLaplace(over(1, Logarithm(Fraction(6, 5))))


def looks(sizes, precision, noise, tau=None):
    """Batches with a window that noise leaves with a probability that counts, or without one."""
    return [
        Look(
            n,
            precision,
            noise,
            None if tau is None else Decoding(tau, n * precision + 2 * tau + 1),
        )
        for n in sizes
    ]


def masses(noise, reach):
    """P(noise = -reach .. reach), from scipy."""
    if isinstance(noise, Skellam):
        half = float(noise.variance) / 2
        law = stats.skellam(half, half)
    else:
        law = stats.dlaplace(1 / to_float(noise.scale))
    return law.pmf(np.arange(-reach, reach + 1))


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("noise", [None, DiscreteLaplace(6), FORMULA, Skellam(30)], ids=str)
@pytest.mark.parametrize("q", [0.03, 0.4, 0.75, 0.99])
def test_no_bound_is_below_the_mean_too_often(noise, q):
    """Against the exact law of coins and noise, after every batch, and not far from it."""
    sizes, precision, reach = (8, 20, 97), 3, 120
    found = index(looks(sizes, precision, noise), P)
    for batch in (1, 2, 3):
        users = sum(sizes[:batch])
        law = np.zeros(users * precision + 1)
        law[::precision] = stats.binom.pmf(np.arange(users + 1), users, q)
        middle = 0
        for _ in range(batch if noise is not None else 0):
            law = np.convolve(law, masses(noise, reach))
            middle += reach
        values = np.arange(len(law)) - middle
        bounds = found.of(np.full(len(law), batch), values.astype(float))
        chance = law[bounds < q].sum()
        level = float(found.levels[batch - 1])
        assert chance <= level + 1e-12
        assert np.all(np.diff(bounds) >= -1e-12)
        if batch == 3 and q < 0.9:  # Chernoff's bound is within a small factor of the truth
            assert chance > level / 30
        if noise is not None and q < 0.9:  # with noise a smaller one, after every batch
            assert chance > level / 5


def test_the_level_pays_for_wrong_decoding():
    noise = DiscreteLaplace(10)
    wide, narrow = (index(looks([10, 10], 4, noise, tau), P) for tau in (200, 60))
    beyond = float(noise.upper_tail(61).upper())
    assert narrow.levels[0] == narrow.levels[1]
    assert float(sum(narrow.levels)) == pytest.approx(0.1 - 2 * beyond, rel=1e-9)
    assert float(narrow.overflow) == pytest.approx(4 * beyond, rel=1e-9)
    assert wide.levels[0] > narrow.levels[0]
    for each in (wide, narrow):
        assert each.failure.upper <= P + Fraction(1, 10**20)
    with pytest.raises(ParameterError, match="wrong decoding costs"):
        index(looks([10, 10], 4, noise, 10), P)
    with pytest.raises(ParameterError, match="precisions"):
        index([*looks([10], 4, noise), *looks([10], 5, noise)], P)


def test_bounds_are_means_and_others_do_not_agree():
    found = index(looks([50, 50], 2, DiscreteLaplace(4)), P)
    bounds = found.of(np.array([1, 2, 1, 2]), np.array([-1e9, -5.0, 200.0, 1e9]))
    assert bounds.min() == 0 and bounds.max() == 1
    one = float(found.of(np.array([2]), np.array([60.0]))[0])
    assert agrees(one, one) and agrees(math.nextafter(one, 2), one)
    assert not agrees(one + 1e-12, one) and not agrees(one - 1e-12, one)
    assert not agrees(math.nan, one) and not agrees(math.inf, one)


@pytest.mark.parametrize("seed", range(3))
def test_rewards_of_any_law_obey(seed):
    """Rewards of three values, whose sums have an exact law too."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(3))
    q = weights @ [0, 0.5, 1]
    found = index(looks([40], 2, DiscreteLaplace(5)), P)
    law = np.array([1.0])
    for _ in range(40):
        law = np.convolve(law, weights)
    law = np.convolve(law, masses(DiscreteLaplace(5), 100))
    bounds = found.of(np.ones(len(law), dtype=int), np.arange(len(law)) - 100.0)
    assert law[bounds < q].sum() <= float(found.levels[0]) + 1e-12


@pytest.mark.parametrize(
    ("noise", "reach"), [(DiscreteLaplace(3), 700), (Skellam(30), 150), (DiscreteGaussian(9), 100)]
)
def test_what_noise_takes_off_a_bound_is_proved_and_near(noise, reach):
    """C_t against the largest probability of the tilted noise, by convolution."""
    precision = 3
    found = index(looks([4] * 4, precision, noise), P)
    outcomes = np.arange(-reach, reach + 1)
    logs = np.array([float(noise.ball(x).log().mid()) for x in outcomes.tolist()])
    seen = 0
    for place in range(0, len(found.exponents), 9):
        t = found.exponents[place] / precision
        tilted = logs - t * outcomes
        top = tilted.max()
        if tilted[0] > top - 30:
            continue  # too much of it is beyond
        mgf, law = np.exp(tilted - top).sum(), np.array([1.0])
        for batch in range(4):
            law = np.convolve(law, np.exp(tilted - top) / mgf)
            truth = min(1.0, law.max() / -math.expm1(-t))
            chernoff = math.log(found.levels[batch]) - (batch + 1) * (top + math.log(mgf))
            claimed = math.exp(chernoff - found.offsets[batch, place])
            assert truth * (1 - 1e-9) <= claimed <= 1.5 * truth
            seen += 1
    assert seen >= 20


def test_noise_that_rises_off_the_axis_takes_nothing_off():
    """On even numbers alone the characteristic function is as large at pi as at 0."""
    outcomes = np.arange(-40, 41, 2)
    found = index(looks([4, 4], 2, FiniteLaw(dict.fromkeys(outcomes.tolist(), "1/41"))), P)
    mgf = np.exp(-found.exponents[:, None] / 2 * outcomes).sum(axis=1) / 41
    for batch in (1, 2):
        chernoff = math.log(found.levels[batch - 1]) - batch * np.log(mgf)
        assert np.allclose(found.offsets[batch - 1], chernoff, rtol=1e-12, atol=0)


@pytest.mark.parametrize("q", [0.2, 0.6, 0.9])
def test_all_batches_together_keep_the_confidence(q):
    """The chance that an index is ever below the mean, by recursion over the law of what remains.

    In units of 1/2; tilting and levels leave less than a factor 20 of it unused.
    """
    noise, sizes, precision = DiscreteLaplace(4), (4, 4, 8, 16, 32), 2
    found = index(looks(sizes, precision, noise), P)
    assert sum(found.levels) == P
    spread, law, first, gone = masses(noise, 100), np.array([1.0]), 0, 0.0
    for batch, users in enumerate(sizes, 1):
        rewards = np.zeros(users * precision + 1)
        rewards[::precision] = stats.binom.pmf(np.arange(users + 1), users, q)
        law, first = np.convolve(np.convolve(law, rewards), spread), first - 100
        values = first + np.arange(len(law))
        low = found.of(np.full(len(law), batch), values.astype(float)) < q
        gone += law[low].sum()
        law[low] = 0
    assert P / 20 <= gone <= P


def test_levels_add_up_and_halve_as_batches_double():
    first = 10
    sizes = [first] + [first * 2**batch for batch in range(11)]
    found = index(looks(sizes, 2, DiscreteLaplace(4)), P)
    assert sum(found.levels) == P
    assert found.levels[0] > P / 6
    for batch, level in enumerate(found.levels):
        assert level == found.levels[0] / 2 ** max(0, batch - 4)
    finer = index(looks([10, 5, 5, 10, 10, 40, 79, 1, 1, 160], 2, DiscreteLaplace(4)), P)
    assert [level / finer.levels[0] for level in finer.levels] == [1] * 7 + [1, 0.5, 0.25]
