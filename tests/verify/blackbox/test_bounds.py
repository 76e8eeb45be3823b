"""Bounds from counts, against tails summed in mpmath, brute-force coverage and simulated power."""

import math
import random

import mpmath
import numpy as np
import pytest
from flint import arb

from exactdp.exact.precision import working_precision
from exactdp.verify.blackbox.bounds import (
    Notion,
    from_excess,
    from_guesses,
    lower_limit,
    upper_limit,
)

PURE = Notion(0.5, 0.0)
APPROX = Notion(0.5, 0.02)


def binomial_at_least(count, trials, p):
    with mpmath.workdps(40):
        return mpmath.fsum(
            mpmath.binomial(trials, k) * p**k * (1 - p) ** (trials - k)
            for k in range(count, trials + 1)
        )


@pytest.mark.parametrize(("count", "trials"), [(1, 10), (7, 10), (10, 10), (3, 400), (390, 400)])
@pytest.mark.parametrize("error", [0.05, 1e-6])
def test_limits_are_where_the_exact_tail_is_the_error(count, trials, error):
    low, high = lower_limit(count, trials, error), upper_limit(count, trials, error)
    assert 1 - 1e-4 < binomial_at_least(count, trials, mpmath.mpf(low)) / error < 1
    if count < trials:
        below = 1 - binomial_at_least(count + 1, trials, mpmath.mpf(high))
        assert 1 - 1e-4 < below / error < 1
    else:
        assert high == 1


@pytest.mark.slow
def test_limits_hold_in_ball_arithmetic():
    """The same tails by FLINT's regularised incomplete beta function, up to the largest samples."""
    choose = random.Random(1)
    for _ in range(150):
        trials = choose.choice([1000, 10**5, 10**7, 2 * 10**8])
        few = choose.randint(1, 200)
        count = choose.choice([few, trials - few, choose.randint(1, trials - 1)])
        error = 10 ** -choose.uniform(0.5, 12)
        low, high = lower_limit(count, trials, error), upper_limit(count, trials, error)
        with working_precision(200):
            above = arb(low).beta_lower(count, trials - count + 1, regularized=True)
            below = 1 - arb(high).beta_lower(count + 1, trials - count, regularized=True)
            assert above < error and below < error
            if few < count < trials - few:
                assert above > 0.99 * error and below > 0.99 * error


def test_no_counts_bound_nothing():
    assert lower_limit(0, 10, 0.05) == 0
    nothing = from_guesses(0, 0, 100, APPROX, 0.05)
    assert (nothing.epsilon, nothing.delta, nothing.detectable_epsilon) == (0, 0, math.inf)
    nothing = from_excess(0, 100, 0, 100, PURE, 0.05)
    assert (nothing.epsilon, nothing.delta) == (0, 0)


def binomial_table(trials, p):
    return np.array(
        [math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]
    )


@pytest.mark.slow_cases(
    "0.0-notion1", "0.01-notion0", "0.01-notion1", "0.2-notion1", "0.55-notion0", "0.55-notion1"
)
@pytest.mark.parametrize("notion", [PURE, APPROX])
@pytest.mark.parametrize("q", [0.0, 0.01, 0.2, 0.55])
def test_excess_covers_the_truth_for_all_counts(notion, q):
    """P(A) on the border of the claim: the probability of a bound above it, summed out."""
    p = math.exp(notion.epsilon) * q + notion.delta
    trials, error = 40, 0.1
    firsts, seconds = binomial_table(trials, p), binomial_table(trials, q)
    wrong = 0.0
    for i in range(trials + 1):
        for j in range(trials + 1):
            found = from_excess(i, trials, j, trials, notion, error)
            wrong += (
                firsts[i]
                * seconds[j]
                * (found.epsilon > notion.epsilon or found.delta > notion.delta)
            )
    assert wrong <= error


@pytest.mark.slow_cases("0.2-notion1", "0.35-notion1")
@pytest.mark.parametrize("notion", [PURE, APPROX])
@pytest.mark.parametrize("q", [0.01, 0.2, 0.35])
def test_guesses_cover_the_truth_for_all_counts(notion, q):
    """Both events on the border of the claim, mirror images of each other."""
    p = math.exp(notion.epsilon) * q + notion.delta
    trials, error = 40, 0.1
    u, c = p + q, p / (p + q)
    makes = binomial_table(trials, u)
    wrong = 0.0
    for made in range(trials + 1):
        rights = binomial_table(made, c)
        for right in range(made + 1):
            found = from_guesses(right, made, trials, notion, error)
            wrong += (
                makes[made]
                * rights[right]
                * (found.epsilon > notion.epsilon or found.delta > notion.delta)
            )
    assert 0 < wrong <= error


@pytest.mark.parametrize("notion", [PURE, APPROX, Notion(0.0, 0.0), Notion(2.0, 1e-5)])
@pytest.mark.parametrize("right", [0, 40, 63, 80, 100])
def test_epsilon_and_delta_agree_on_the_claim(notion, right):
    """A bound on epsilon above the claim goes with a bound on delta above it."""
    found = from_excess(right, 100, 3, 100, notion, 0.01)
    assert (found.epsilon > notion.epsilon) == (found.delta > notion.delta)
    guessed = from_guesses(right, 100, 130, notion, 0.01)
    if notion.delta:
        assert (guessed.epsilon > notion.epsilon) == (guessed.delta > notion.delta)


@pytest.mark.parametrize("notion", [PURE, APPROX])
def test_power_of_guesses_is_as_stated(notion):
    trials, made, error = 20_000, 15_000, 1e-6
    stated = from_guesses(made // 2, made, trials, notion, error)
    odds = math.exp(stated.detectable_epsilon)
    free = notion.delta * trials / made
    c = (odds + free) / (1 + odds)
    rng = np.random.default_rng(1)
    rights = rng.binomial(made, c, 2000)
    found = [from_guesses(r, made, trials, notion, error).epsilon for r in set(rights.tolist())]
    by_count = dict(zip(set(rights.tolist()), found, strict=True))
    rate = np.mean([by_count[r] > notion.epsilon for r in rights.tolist()])
    assert 0.93 < rate < 0.97


@pytest.mark.parametrize("notion", [PURE, APPROX])
def test_power_of_excess_is_at_least_as_stated(notion):
    trials, error, q = 20_000, 1e-6, 0.2
    stated = from_excess(0, trials, int(q * trials), trials, notion, error)
    p = math.exp(stated.detectable_epsilon) * q + notion.delta
    assert math.isclose(stated.detectable_delta, p - math.exp(notion.epsilon) * q, rel_tol=1e-6)
    rng = np.random.default_rng(1)
    firsts, seconds = rng.binomial(trials, p, 400), rng.binomial(trials, q, 400)
    rate = np.mean(
        [
            from_excess(i, trials, j, trials, notion, error).epsilon > notion.epsilon
            for i, j in zip(firsts.tolist(), seconds.tolist(), strict=True)
        ]
    )
    assert rate > 0.93


def test_large_claims_do_not_overflow():
    for notion in (Notion(500.0, 0.0), Notion(500.0, 1e-6)):
        assert from_guesses(100, 100, 200, notion, 1e-6).epsilon < 500
        assert from_excess(100, 100, 0, 100, notion, 1e-6).delta == 0
