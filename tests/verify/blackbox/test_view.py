"""Samplers of floats and of vectors: what is seen of them, what is found, and what is not."""

import math

import numpy as np
import pytest

from exactdp import ApproxDP, PureDP
from exactdp.verify.blackbox import SampleVerdict, audit_sampler
from exactdp.verify.blackbox.event import View, float_at, lowest_bits, ordered

VIOLATION, NONE = SampleVerdict.VIOLATION, SampleVerdict.NONE
FLOATS = [
    -math.inf,
    -1e300,
    -1.5,
    -5e-324,
    -0.0,
    0.0,
    5e-324,
    2.0**-1022,
    0.1,
    1.0,
    1e300,
    math.inf,
]


def textbook(x, size, rng):
    """Laplace noise of scale 1 by inversion, in floats."""
    u = rng.random(size) - 0.5
    return x - np.sign(u) * np.log1p(-2 * np.abs(u))


def numpys(x, size, rng):
    return rng.laplace(x, 1.0, size)


def on_a_grid(x, size, rng):
    """Discrete Laplace noise of scale 1 on multiples of 2^-10: exactly what it says."""
    p = -np.expm1(-(2.0**-10))
    return x + 2.0**-10 * (rng.geometric(p, size) - rng.geometric(p, size))


def opendps(x, size, rng):
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    noisy = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=1.0)
    return np.array(noisy([float(x)] * size))


def in_two(x, size, rng):
    """The same user moves two counts by 1, each with the noise of epsilon = 1."""
    p = 1 - math.exp(-1)
    return x + rng.geometric(p, (size, 2)) - rng.geometric(p, (size, 2))


def test_places_are_in_the_order_of_floats_one_for_each_bit_pattern():
    places = ordered(np.array(FLOATS))
    assert np.all(np.diff(places) > 0) and places[4] + 1 == places[5] == 0
    assert [repr(float_at(int(place))) for place in places] == [repr(one) for one in FLOATS]
    several = np.array([0x7FF8000000000000, 0x7FF8000000000001, -1], dtype=np.int64)
    assert len(set(ordered(several.view(np.float64)).tolist())) == 1


def test_lowest_bits():
    values = np.array([1.0, -1.0, 3.0, 6.0, 0.75, 5e-324, 2.0**-1022, 1 + 2.0**-52, 0.0, math.inf])
    found = lowest_bits(values).tolist()
    assert found[:8] == [0, 0, 0, 1, -2, -1074, -1022, -52] and found[8] == found[9] > 1100


@pytest.mark.parametrize("sampler", [textbook, numpys])
def test_floats_tell_what_they_are_the_sum_of(sampler):
    found = audit_sampler(sampler, PureDP(1), samples=10**5, rng=2)
    assert found.verdict is VIOLATION and found.epsilon > 5
    assert "lowest bit" in str(found.best.plan) and found.to_json()["tests"]
    assert audit_sampler(sampler, ApproxDP(1, "0.001"), samples=10**5, rng=2).verdict is VIOLATION


@pytest.mark.parametrize("sampler", [on_a_grid, opendps])
def test_noise_that_is_exact_is_not_accused(sampler):
    found = audit_sampler(sampler, PureDP(1), samples=30_000, rng=2)
    assert found.verdict is NONE and 0.8 < found.epsilon < 1 < found.detectable_epsilon
    assert audit_sampler(sampler, PureDP("0.8"), samples=30_000, rng=2).verdict is VIOLATION


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "verdict"), [(textbook, VIOLATION), (on_a_grid, NONE)])
def test_twenty_times(sampler, verdict):
    for seed in range(20):
        assert audit_sampler(sampler, PureDP(1), samples=10**6, rng=seed).verdict is verdict


def test_values_that_come_up_often_have_cells_of_their_own():
    """A few exact values, hidden among so many others that no threshold shows them."""

    def marked(x, size, rng):
        noise = rng.laplace(0, 1.0, size)
        return np.where(rng.random(size) < 0.01, 0.1 + 0.3 * x, np.round(noise, 12))

    found = audit_sampler(marked, PureDP(2), samples=10**5, rng=1)
    assert found.verdict is VIOLATION


def test_vectors_by_projections():
    """Each count is of epsilon = 1, both together of 2; no coordinate alone tells more than 1."""
    found = audit_sampler(in_two, PureDP("1.5"), samples=10**5, rng=1)
    assert found.verdict is VIOLATION and 1.5 < found.epsilon <= 2
    assert "w.x" in str(found.best.plan)
    assert audit_sampler(in_two, PureDP(2), samples=10**5, rng=1).verdict is NONE


def test_vectors_by_coordinates():
    """One of 100 coordinates has too little noise."""

    def sampler(x, size, rng):
        noise = rng.laplace(0, 1.0, (size, 100))
        noise[:, 77] /= 3
        noise[:, 77] += x
        return np.round(noise * 2**10).astype(int)

    found = audit_sampler(sampler, PureDP(1), samples=20_000, rng=1)
    assert found.verdict is VIOLATION and 1 < found.epsilon < 3
    with_weights = found.best.plan.first.to_json()["weights"]
    assert max(with_weights, key=lambda one: abs(one[1]))[0] == 77


def test_a_projection_of_whole_numbers_is_exact():
    rows = np.array([[1 << 40, 3], [-(1 << 40), 5]])
    assert View(((0, 2), (1, -1))).of(rows).tolist() == [(1 << 41) - 3, -(1 << 41) - 5]
