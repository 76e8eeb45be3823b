"""Certified radii: the failure probability, in the proof's terms and in simulated runs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from exactdp import ParameterError
from exactdp.bandit.radius.certified import _failure, certified_radius
from exactdp.bandit.radius.paper import discrete_laplace_scale, paper_radius
from exactdp.bandit.radius.plan import ContinuousLaplace, Decoding, RadiusPlan
from exactdp.mechanisms.additive.papers import theorem1
from exactdp.mechanisms.laws.binomial import Binomial

SIGNIFICANCE = 1e-6
RUNS = 4000


def certified_failure(made, table):
    """The bound that is proved for any table of radii."""
    return _failure(made, table)[0]


def plan(epsilon="0.5", arms=4, horizon=20_000, confidence="0.1", growth=2, **changed):
    sizes, used = [], 0
    while 2 * (used + growth ** (len(sizes) + 1)) <= horizon:
        sizes.append(growth ** (len(sizes) + 1))
        used += sizes[-1]
    presets = [theorem1(epsilon, n, horizon) for n in sizes]
    told = {
        "noises": [p.mechanism.law for p in presets],
        "precisions": [p.precision for p in presets],
        "decodings": [Decoding(p.accuracy, p.mechanism.modulus) for p in presets],
    } | changed
    return RadiusPlan(arms, horizon, confidence, sizes, **told)


def laplace(scale, rng, size):
    success = -math.expm1(-1 / float(scale))
    return rng.geometric(success, size) - rng.geometric(success, size)


def eliminated(made, table, means, runs, seed):
    """In how many runs arm 0 leaves: all runs at once, on the level of the aggregates."""
    rng = np.random.default_rng(seed)
    active = np.ones((runs, made.arms), dtype=bool)
    used = np.zeros(runs)
    for b, users in enumerate(made.batches):
        count = active.sum(axis=1)
        running = (count > 1) & (used + count * users <= made.horizon)
        used += count * users
        g, noise, decoding = made.precisions[b], made.noises[b], made.decodings[b]
        sums = g * rng.binomial(users, means, active.shape)
        sums = sums + laplace(noise.scale, rng, active.shape)
        low = decoding.accuracy
        sums = (sums + low) % decoding.modulus - low
        estimate = np.where(active, sums / (g * users), -np.inf)
        beta = table[b, count]
        stays = estimate + beta[:, None] >= (estimate.max(axis=1) - beta)[:, None]
        active &= stays | ~running[:, None]
    return int((~active[:, 0]).sum())


@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_the_best_arm_leaves_no_more_often_than_certified(epsilon):
    made = plan(epsilon)
    radius = certified_radius(made)
    assert radius.failure.at_most(made.confidence) is True
    for means in ([0.5] * 4, [0.5, 0.49, 0.45, 0.4], [0.9] * 4):
        count = eliminated(made, radius.table, means, RUNS, seed=1)
        above = stats.binom.sf(count - 1, RUNS, float(radius.failure.upper))
        assert above >= SIGNIFICANCE
    # the test can fail: half the radius loses the best arm too often
    count = eliminated(made, radius.table / 2, [0.5] * 4, RUNS, seed=2)
    assert stats.binom.sf(count - 1, RUNS, float(radius.failure.upper)) < SIGNIFICANCE


def test_bits_ask_for_less():
    made, bits = plan("1", arms=3), plan("1", arms=3, binary=True)
    radius = certified_radius(bits)
    assert radius.failure.at_most(bits.confidence) is True
    assert np.all(radius.table[7:, 3] < 0.97 * certified_radius(made).table[7:, 3])
    count = eliminated(bits, radius.table, [0.5] * 3, RUNS, seed=4)
    assert stats.binom.sf(count - 1, RUNS, float(radius.failure.upper)) >= SIGNIFICANCE
    # on the grid 0, 1 rewards are bits anyway
    ones = [1] * len(made.batches)
    coarse, told = (plan(precisions=ones, decodings=(), binary=b) for b in (False, True))
    assert np.array_equal(certified_radius(coarse).table, certified_radius(told).table)
    # without noise the sums of bits are whole numbers
    silent = plan(noises=[None] * len(ones), precisions=ones, decodings=(), binary=True)
    units = certified_radius(silent).table[:, 2] * 2 * np.array(silent.batches)
    assert np.allclose(units % 1, 0.5)


def test_the_table_and_its_parts():
    made = plan("0.1", arms=10, horizon=10**5)
    radius = certified_radius(made)
    table = radius.table
    assert table.shape == (len(made.batches), 11)
    assert np.all(np.isinf(table[:, 0]))
    assert np.all(np.isfinite(table[:, 1:]))
    assert np.all(np.diff(table[:, 2:], axis=1) >= 0)  # more rivals, wider
    assert np.all(np.diff(table[:, 2:], axis=0) < 0)  # more users, narrower
    assert not table.flags.writeable
    total = sum(Fraction(share.upper) for share in radius.shares)
    assert Fraction(radius.failure.lower) <= total
    assert total <= made.confidence
    assert all(w.at_most(s.upper) for w, s in zip(radius.overflows, radius.shares, strict=True))
    paper = paper_radius(made, [discrete_laplace_scale(Fraction("0.1"))] * len(made.batches))
    useful = table[:, 10] < 0.5
    assert np.all(table[useful, 2:] < 0.45 * paper[useful, 2:])


def test_the_budget_is_used_and_never_exceeded():
    for confidence in ("0.5", "0.1", "0.001", "1e-15"):
        made = plan("0.5", confidence=confidence, decodings=())
        failure = certified_radius(made).failure
        assert failure.at_most(made.confidence) is True
        assert failure.at_least(made.confidence * Fraction(9, 10)) is True


def test_a_confidence_that_is_too_small_is_refused():
    with pytest.raises(ParameterError, match="confidence"):
        certified_radius(plan(confidence="1e-16", decodings=()))


def test_the_failure_of_a_table_near_its_thresholds():
    made = plan("0.5", decodings=())
    radius = certified_radius(made)
    again = certified_failure(made, radius.table)
    assert again == radius.failure
    # midway between whole numbers: a relative error of 1e-9 changes nothing ...
    for factor in (1 - 1e-9, 1 + 1e-9):
        assert certified_failure(made, radius.table * factor) == radius.failure
    # ... and half a unit in the last batch does
    table = radius.table.copy()
    unit = 1 / (2 * made.batches[-1] * made.precisions[-1])
    table[-1] -= 0.5001 * unit
    assert certified_failure(made, table).greater_than(radius.failure.upper) is True
    table[-1] += unit
    assert certified_failure(made, table).at_most(radius.failure.upper) is True


def test_a_threshold_on_a_whole_number_counts_as_reached():
    """Means that differ by exactly 2 beta do not eliminate; in floats they might."""
    made = plan("0.5", decodings=())
    table = np.full((len(made.batches), 5), np.inf)
    scale = made.batches[-1] * made.precisions[-1]
    k = 40
    failures = []
    for wanted in (k - 0.5, k, k + 0.5):
        table[-1, 1:] = wanted / (2 * scale)
        failures.append(certified_failure(made, table))
    assert failures[1] == failures[0]
    assert failures[2].less_than(failures[0].lower) is True


def test_wrong_decoding_is_charged():
    made = plan("0.5")
    without = plan("0.5", decodings=())
    overflows = certified_radius(made).overflows
    law, decoding = made.noises[-1], made.decodings[-1]
    expected = law.sf(decoding.accuracy)  # 2 arms complete the last batch: twice
    assert made.most_active(len(made.batches)) == 2
    assert float(overflows[-1].upper) == pytest.approx(2 * float(expected.upper))
    table = certified_radius(without).table
    more = certified_failure(made, table)
    assert more.greater_than(certified_failure(without, table).upper) is True


def test_decoding_that_fails_too_often_is_refused():
    made = plan("0.1", confidence="1e-4")  # each sum is wrong with probability 1/(2T)
    with pytest.raises(ParameterError, match="confidence"):
        certified_radius(made)
    tight = [Decoding(3, n * g + 3) for n, g in zip(made.batches, made.precisions, strict=True)]
    with pytest.raises(ParameterError, match="modulus"):
        certified_radius(plan("0.1", decodings=tight))


def test_without_noise_and_with_continuous_noise():
    sizes = len(plan().batches)
    made = plan(noises=[None] * sizes, precisions=[1] * sizes, decodings=())
    radius = certified_radius(made)
    assert radius.failure.at_most(made.confidence) is True
    hoeffding = [math.sqrt(math.log(3 * sizes / 0.1) / (4 * n)) for n in made.batches]
    assert np.all(radius.table[5:, 4] < np.array(hoeffding[5:]))
    laplace_noise = [ContinuousLaplace(2000)] * sizes  # in units of 1/1000: epsilon = 1/2
    made = plan(noises=laplace_noise, precisions=[1000] * sizes, decodings=())
    found = certified_radius(made)
    assert found.failure.at_most(made.confidence) is True
    discrete = certified_radius(plan(decodings=())).table
    assert np.allclose(found.table[5:, 2:], discrete[5:, 2:], rtol=0.05)


@pytest.mark.slow
def test_cumulative_estimates_take_the_union_over_all_arms():
    sizes = [50 * t for t in range(1, 60)]
    law = [Binomial(200 * t, "1/2") for t in range(1, 60)]
    made = RadiusPlan(3, 10**4, "0.1", sizes, law, [1] * 59, cumulative=True)
    radius = certified_radius(made)
    assert radius.failure.at_most(made.confidence) is True
    assert radius.failure.at_least(Fraction(9, 100)) is True
    assert np.array_equal(radius.table[:, 2], radius.table[:, 3])
    looked = np.isfinite(radius.table[:, 2])
    assert 5 < looked.sum() < 40 and looked[0]
    mixed = [(Binomial(200, "1/2"),), (Binomial(200, "1/2"), Binomial(400, "1/4"))]
    two = RadiusPlan(3, 10**4, "0.1", [50, 150], mixed, [1, 1], cumulative=True)
    assert certified_radius(two).failure.at_most(Fraction(1, 10)) is True
    with pytest.raises(ParameterError, match="decodings"):
        certified_radius(
            RadiusPlan(3, 10**4, "0.1", [50], law[:1], [1], [Decoding(500, 2000)], cumulative=True)
        )
