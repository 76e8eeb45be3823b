"""Bounds of regret: never below what contexts can cost, and how often they fail."""

import math
from fractions import Fraction

import numpy as np
import pytest

from exactdp.bandit.linear.contexts import UnitBall
from exactdp.bandit.linear.radius import Radius, radius
from exactdp.bandit.linear.regret import _eigenvalue, prior_regret, released_regret
from exactdp.bandit.linear.setting import LinearSetting
from exactdp.bandit.linear.simulation import play_linear, prepare_linear, run_linear


def _radius(c, norm=1):
    at = Fraction(1, 20)
    return Radius(3, (4000, 8000), (c, c), (c, c), at, max(c, 1.0), Fraction(norm), at, 1e-12)


def _contexts(seed, users):
    rng = np.random.default_rng(seed)
    found = rng.standard_normal((users, 3)) * rng.random(3)
    return found / np.linalg.norm(found, axis=1).max()


@pytest.mark.parametrize("c", [0.0, 3.0, 40.0])
@pytest.mark.parametrize("seed", range(4))
def test_widths_of_any_contexts_add_up_to_less_than_their_noisy_sum_shows(c, seed):
    """Noise at the ends of what its bound allows: the sum of the batch is then shown too small."""
    given = _radius(c)
    first, second = _contexts(seed, 4000), _contexts(seed + 100, 4000)
    noise = c * np.eye(3)
    gram = first.T @ first
    before = given.estimate(1, gram + noise, np.ones(3))
    after = given.estimate(2, gram + second.T @ second - noise, np.ones(3))
    truth = np.minimum(before.widths(second), 1).sum()
    assert truth <= released_regret(before, after, 4000, Fraction(1))
    most = released_regret(before, after, 4000, Fraction(1, 1000))
    assert 4 <= most <= 4 * (1 + 1e-12)


@pytest.mark.parametrize(("users", "share"), [(400, "0.1"), (4000, "0.02"), (60, "0.5")])
@pytest.mark.parametrize("failure", ["0.1", "0.001"])
def test_contexts_show_less_than_is_said_as_seldom_as_is_said(users, share, failure):
    """d = 1, contexts 0 and 1: their sum is binomial, and its law known."""
    kappa, q = Fraction(share), Fraction(failure)
    g = _eigenvalue(users * kappa, 1, q)
    p = float(kappa)
    below = sum(
        math.exp(
            math.lgamma(users + 1)
            - math.lgamma(k + 1)
            - math.lgamma(users - k + 1)
            + k * math.log(p)
            + (users - k) * math.log1p(-p)
        )
        for k in range(math.floor(g) + 1)
    )
    assert 0 < g < users * p and below <= float(q)
    mu = users * p
    assert mu - g + g * math.log(g / mu) == pytest.approx(math.log(1 / float(q)), rel=1e-5)


@pytest.mark.parametrize("norm", [1, "0.25"])
@pytest.mark.parametrize("noise", [None, 20.0])
def test_the_bound_before_is_the_formula_of_the_proof(noise, norm):
    """Computed again in floats, from what the documentation says."""
    setting = LinearSetting(4, 300_000, None, first=30_000, norm=norm)
    plain = radius(setting, None)
    size = len(plain.users)
    c = noise or 0.0
    given = (
        plain
        if noise is None
        else Radius(
            4,
            plain.users,
            (c,) * size,
            (c,) * size,
            plain.rewards,
            c,
            plain.norm,
            plain.failure,
            1e-12,
        )
    )
    found = prior_regret(given, Fraction(1, 6))
    cap, ridge, p = float(Fraction(norm)), max(1.0, c), 0.05
    a = _eigenvalue(Fraction(5000), 4, Fraction(1, 2000)) - c
    assert a > 2 * ridge
    total = 30_000 * cap
    for users, after in zip(plain.users, plain.users[1:], strict=False):
        beta = math.sqrt(2 * math.log(1 / p) + 4 * math.log(1 + users / (4 * ridge)))
        width = beta * math.sqrt(1 / a + (c + ridge) / a**2) + c / a
        total += (after - users) * min(cap, width)
    assert total < found.bound <= total + 300_000 * cap * 3 * 2**-11
    assert found.mean == pytest.approx(found.bound + 300_000 * cap * 0.0505)


def test_measured_regret_is_below_what_is_known_after_and_before():
    place = UnitBall(3, 6)
    ready = prepare_linear(LinearSetting(3, 40_000, 5, first=5000))
    found = run_linear(place, ready, 3)
    prior = prior_regret(ready.radius, place.diversity)
    assert (found.regret <= found.certified).all() and (found.certified <= found.released).all()
    assert found.released[:, -1].max() < prior.bound < prior.mean < 30_000


@pytest.mark.parametrize("arms", [2, 20])
def test_every_eigenvalue_of_the_sums_is_as_large_as_is_said(arms):
    place, setting = UnitBall(3, arms), LinearSetting(3, 4000, None, first=10)
    known = radius(setting, None)
    mean = 10 * place.diversity + (4000 - 10) * place.chosen_diversity
    proved = _eigenvalue(mean, 3, Fraction(1, 1000))
    for seed in range(5):
        gram = play_linear(place, known, None, np.random.SeedSequence(seed)).last.gram
        assert 0 < proved < np.linalg.eigvalsh(gram)[0]


@pytest.mark.parametrize("share", [0, "0.001", "0.01", "0.05"])
def test_what_is_known_of_chosen_arms_never_makes_the_bound_larger(share):
    given = radius(LinearSetting(3, 50_000, None, first=500), None)
    without = prior_regret(given, Fraction(1, 5))
    found = prior_regret(given, Fraction(1, 5), Fraction(share))
    assert found.bound <= without.bound and found.mean <= without.mean
