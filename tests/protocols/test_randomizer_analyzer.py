"""R and A: exact where the noise is certain, and in law where it is not.

Significance of the statistical tests: 1e-6 each, by exact or normal tails of many draws.
"""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from exactdp import ParameterError
from exactdp.mechanisms import FiniteLaw
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.samplers import SeededBits
from exactdp.protocols import SumProtocol, Trust
from exactdp.protocols.parties import analyze, decode, randomize

RARE = 1e-6


def certain(noise, m):
    """Noise that is this number, whatever the randomness."""
    return SumProtocol(3, 4, 5, m, FiniteLaw({noise: 1}))


@pytest.mark.parametrize("m", [18, 23, 2**80, None])
def test_without_noise_the_sum_is_exact(m):
    silent, bits = certain(0, m), SeededBits(1)
    rewards = [Fraction(1, 4), Fraction(1, 2), Fraction(1)]  # on the grid: nothing to round
    sent = [randomize(silent, reward, bits) for reward in rewards]
    assert sent == [1, 2, 4]
    total = sum(sent) if m is None else sum(sent) % m
    assert analyze(silent, total) == Fraction(7, 4)


@given(st.integers(-(2**90), 2**90), st.integers(0, 4))
def test_shares_of_any_size_are_reduced_without_a_wrap(noise, steps):
    for m in (18, 2**80 + 13):
        sent = randomize(certain(noise, m), Fraction(steps, 4), SeededBits(0))
        assert 0 <= sent < m and (sent - noise - steps) % m == 0
    assert randomize(certain(noise, None), Fraction(steps, 4), SeededBits(0)) == noise + steps


@pytest.mark.parametrize("m", [18, 19, 23, 40, 2**70 + 3])
def test_the_window_is_decoded_to_its_edges(m):
    protocol = certain(0, m)
    low, high = protocol.window
    assert (low, high) == (-5, m - 6)
    for value in {low, low + 1, -1, 0, 1, 12, high - 1, high}:
        if low <= value <= high:
            assert decode(protocol, value % m) == value
            assert analyze(protocol, value % m) == Fraction(value, 4)
    assert decode(protocol, (high + 1) % m) == low  # one more wraps around
    assert decode(protocol, (low - 1) % m) == high


def test_at_the_papers_modulus_the_window_is_that_of_algorithm_1():
    preset = papers.theorem1("1/2", 16, 100)
    n, g, tau, m = 16, preset.precision, preset.accuracy, preset.mechanism.modulus
    for seen in range(m):
        stated = seen - m if seen > n * g + tau else seen  # lines 28-30
        assert decode(preset.protocol, seen) == stated


@pytest.mark.parametrize("reward", [-0.01, 1.01, float("nan"), float("inf"), True, "x", None])
def test_a_reward_out_of_range_is_refused(reward):
    with pytest.raises(ParameterError, match="reward"):
        randomize(certain(0, 23), reward, SeededBits(0))


@pytest.mark.parametrize("aggregate", [-1, 23, 10**30, "1/2", float("nan"), True])
def test_an_aggregate_out_of_range_is_refused(aggregate):
    with pytest.raises(ParameterError, match="aggregate"):
        analyze(certain(0, 23), aggregate)


def test_a_modulus_too_small_to_decode_is_refused():
    with pytest.raises(ParameterError, match=r"n g \+ tau \+ 1 = 18 .*got 17"):
        analyze(certain(0, 17), 3)


def test_the_central_analyzer_adds_the_noise():
    central = SumProtocol(3, 4, 5, 23, FiniteLaw({-6: 1}), Trust.CENTRAL)
    assert randomize(central, 1, SeededBits(0)) == 4  # no noise of the user's own
    assert analyze(central, 12, SeededBits(0)) == Fraction(6, 4)
    assert analyze(central, 3, SeededBits(0)) == Fraction(-3, 4)
    assert analyze(central, 0, SeededBits(0)) == Fraction(17, 4)  # -6 is outside of the window
    with pytest.raises(ParameterError, match="bits"):
        analyze(central, 12)
    for wrong in (23, -1):
        with pytest.raises(ParameterError, match="aggregate"):
            analyze(central, wrong, SeededBits(0))


@pytest.mark.slow_cases("Theorem 2", "Theorem 6")
@pytest.mark.parametrize(
    "preset",
    [
        papers.theorem1("1/2", 8, 10),
        papers.theorem2("1/2", 8, 10, 2),
        papers.theorem4("1/2", 8, 10, 2),
        papers.theorem5("1/2", 8, 10),
        papers.theorem6("1/2", 8, 10),
        papers.theorem3("1/2", 8, 10),
    ],
    ids=lambda preset: preset.source,
)
def test_whole_rounds_have_the_law_that_is_audited(preset):
    """R, a plain sum mod m, A: the decoded noise follows the wrapped law of the protocol."""
    protocol, bits, rounds = preset.protocol, SeededBits(3), 250
    m, g = protocol.modulus, protocol.precision
    rewards = [Fraction(k % (g + 1), g) for k in range(protocol.users)]  # nothing to round
    truth = sum(rewards, Fraction(0))
    found = []
    for _ in range(rounds):
        aggregate = sum(randomize(protocol, reward, bits) for reward in rewards) % m
        found.append(int((analyze(protocol, aggregate, bits) - truth) * g))
    law = protocol.total_noise()
    start = -protocol.accuracy - int(truth * g)  # the window, seen from the noise
    every = range(start, start + m)
    wrapped = {x: sum(float(law.probability(x + k * m).lower) for k in (-1, 0, 1)) for x in every}
    assert sum(wrapped.values()) > 0.999
    edges = [-(10**9), *_quantiles(wrapped, 8), 10**9]
    expected, observed = [], []
    for low, high in pairwise(edges):
        expected.append(sum(p for x, p in wrapped.items() if low < x <= high))
        observed.append(sum(low < x <= high for x in found))
    scale = rounds / sum(expected)
    assert min(expected) * scale > 5
    assert stats.chisquare(observed, [p * scale for p in expected]).pvalue > RARE


def _quantiles(masses, parts):
    edges, seen = [], 0.0
    for x, p in masses.items():
        seen += p
        if seen >= (len(edges) + 1) / parts and len(edges) < parts - 1:
            edges.append(x)
    return sorted(set(edges))
