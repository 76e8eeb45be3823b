"""The mechanism of every batch: its certificate, and that nothing goes without.
The laws of noise: moments against sums over outcomes, and what the search starts from.
Users of several batches: against Gaussian noise in closed form, and what pure DP adds up to.
"""

from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve
from flint import arb
from scipy.optimize import brentq
from scipy.stats import norm

import exactdp
from exactdp import ParameterError
from exactdp.bandit.linear import release as module
from exactdp.bandit.linear.contribution import Contribution
from exactdp.bandit.linear.release import (
    certified_release,
    deviation,
    log_moment,
    released,
    returning,
    wrap_bound,
)
from exactdp.bandit.linear.setting import LinearSetting
from exactdp.mechanisms.laws import DiscreteLaplace, Skellam
from exactdp.mechanisms.samplers import SeededBits
from exactdp.verify.certificate import MismatchError


@pytest.fixture(scope="module")
def setting():
    return LinearSetting(3, 2000, 1, first=200)


@pytest.fixture(scope="module")
def release(setting):
    return certified_release(setting)


def test_the_release_is_certified_for_the_claim(setting, release):
    content = release.certificate.content
    assert release.certificate.verdict.name == "VERIFIED"
    assert content["claim"] == {"kind": "approx", "epsilon": "1", "delta": "0.000001"}
    assert content["neighbours"] == "add-remove"
    assert release.certificate.check().valid
    assert release.certificate.measured.at_most(1)


def test_its_spec_is_the_mechanism_that_is_certified(setting, release):
    mechanism = exactdp.mechanism(release.spec).uses[0].mechanism
    assert mechanism == released(release.contribution, release.noise)
    assert mechanism.reach.norm == release.contribution.scale
    assert mechanism.reach.dimension == 9


@pytest.fixture(scope="module")
def pure():
    return certified_release(LinearSetting(3, 2000, 1, first=200, release="discrete-laplace"))


def test_the_pure_release_is_certified_for_pure_epsilon(pure):
    content = pure.certificate.content
    assert content["claim"] == {"kind": "pure", "epsilon": "1"}
    assert pure.certificate.verdict.name == "VERIFIED" and pure.certificate.check().valid
    mechanism = exactdp.mechanism(pure.spec).uses[0].mechanism
    assert mechanism == released(pure.contribution, pure.noise)
    for users in (1, 7, 1000):
        assert pure.share(users).sum_of(users) == pure.noise
    with pytest.raises(MismatchError):
        evolve(pure, noise=DiscreteLaplace(pure.noise.scale * 99 / 100))


def test_no_user_moves_the_pure_release_by_more_than_epsilon(pure):
    """|R|_1/scale is the loss of a far outcome: of many users, and of those that move it most."""
    one, rng = pure.contribution, np.random.default_rng(0)
    contexts = rng.standard_normal((200, 3)) * rng.integers(0, 2, (200, 3))
    contexts = np.vstack([contexts, np.ones((20, 3)), [[1, 2, 2]]])
    contexts /= np.maximum(np.linalg.norm(contexts, axis=1)[:, None], 1)
    sums = [
        np.abs(one.integers(context, reward, SeededBits(seed))).sum()
        for seed, context in enumerate(contexts)
        for reward in (0, 1)
    ]
    assert 0.8 < max(sums) / float(pure.noise.scale) <= 1
    assert pure.deviation < 1.03 * np.sqrt(2 * one.size)


@pytest.mark.parametrize(("bits", "users"), [(8, 3), (9, 3), (9, 5)])
def test_sums_with_heavier_noise_wrap_as_seldom_as_is_said(bits, users):
    one, noise = Contribution(32, 4, bits), DiscreteLaplace(6)
    truth = 2 * one.size * float(noise.upper_tail(2 ** (bits - 1) - 4 * users))
    assert truth <= float(wrap_bound(one, noise, users)) <= 300 * truth


def test_a_certificate_of_anything_else_is_refused(release):
    less = Skellam(release.noise.variance * 99 / 100)
    with pytest.raises(MismatchError):
        evolve(release, noise=less)
    with pytest.raises(MismatchError):
        evolve(release, contribution=evolve(release.contribution, scale=1024))
    with pytest.raises(MismatchError):
        evolve(release, claim=exactdp.verify.ApproxDP("0.5", "1e-6"))


def test_noise_grows_until_it_is_verified(setting, release, monkeypatch):
    found = iter([2, 1.5, 0.5])
    monkeypatch.setattr(module, "provable_epsilon", lambda mechanism, delta: next(found))
    monkeypatch.setattr(module, "_certificate", lambda *given: release.certificate)
    with pytest.raises(MismatchError):  # its certificate is of less noise
        certified_release(setting)
    assert next(found, None) is None


@pytest.mark.parametrize(("bits", "users"), [(6, 3), (7, 3), (7, 5), (6, 1)])
def test_sums_wrap_as_seldom_as_is_said(bits, users):
    one, noise = Contribution(32, 4, bits), Skellam(variance=30)
    half = 2 ** (bits - 1)
    worst = max(  # of one coordinate, the worst sum of users in [-4, 4]
        float((noise.upper_tail(half - s) + noise.lower_tail(-half - s - 1)).upper())
        for s in (-4 * users, 0, 4 * users)
    )
    bound = float(wrap_bound(one, noise, users))
    anywhere = -np.expm1(one.size * np.log1p(-min(worst, 0.999)))
    assert anywhere <= bound <= 1
    assert anywhere > bound / 100  # Chernoff's is not far off


LAWS = [Skellam(9), DiscreteLaplace(3), DiscreteLaplace("0.7")]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_moments_are_sums_over_outcomes(law):
    places = np.arange(-700, 701)
    masses = np.exp(law.log_pmf(places))
    found = []
    for s in (0.05, 0.1, 0.2, 0.3):
        truth = np.log((masses * np.exp(s * places)).sum())
        assert float(log_moment(law, arb(s))) == pytest.approx(truth, rel=1e-9)
        found.append(truth / s**2)
    assert found == sorted(found)
    assert deviation(law) == pytest.approx(np.sqrt((masses * places**2).sum()))


def test_moments_end_where_tails_are_as_heavy():
    assert log_moment(DiscreteLaplace(3), arb(1) / 3 + arb(2) ** -40) == arb("inf")
    assert log_moment(DiscreteLaplace(3), arb(1) / 3 - arb(2) ** -40).is_finite()


DELTA = Fraction(1, 10**6)


def _gaussian(mu):
    def excess(epsilon):
        below = np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        return norm.cdf(mu / 2 - epsilon / mu) - below - float(DELTA)

    return brentq(excess, 0, 100)


@pytest.fixture(scope="module")
def releases():
    return {
        name: certified_release(LinearSetting(3, 2000, 1, release=name))
        for name in ("skellam", "discrete-laplace")
    }


@pytest.mark.slow_cases("2")
@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("batches", [1, 2, 7])
def test_batches_cost_about_what_gaussian_noise_costs_and_are_certified(releases, batches):
    one = releases["skellam"]
    found = returning(one, batches, DELTA, 7)
    truth = _gaussian(batches**0.5 / one.deviation)
    assert (
        found.epsilon.lower <= truth * 1.001 and truth * 0.999 <= found.epsilon.upper < 1.02 * truth
    )
    assert found.pure is None and found.batches == batches
    content = found.certificate.content
    assert content["uses"][0]["times"] == str(batches)
    assert float(content["claim"]["epsilon"]) <= 1.001 * float(found.epsilon.upper)
    assert found.certificate.check().valid


@pytest.mark.slow
def test_pure_epsilons_add_up_and_delta_makes_less_of_them(releases):
    found = returning(releases["discrete-laplace"], 5, DELTA, 7)
    assert found.pure.lower <= 5 and found.pure.upper <= 5
    assert found.epsilon.upper < found.pure.lower and found.certificate.check().valid


@pytest.mark.parametrize("batches", [0, 8, "two"])
def test_more_batches_than_there_are_is_refused(releases, batches):
    with pytest.raises(ParameterError, match="returning"):
        returning(releases["skellam"], batches, DELTA, 7)
