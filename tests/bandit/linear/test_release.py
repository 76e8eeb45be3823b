"""The mechanism of every batch: its certificate, and that nothing goes without."""

import numpy as np
import pytest
from attrs import evolve

import exactdp
from exactdp.bandit.linear import release as module
from exactdp.bandit.linear.contribution import Contribution
from exactdp.bandit.linear.release import certified_release, released, wrap_bound
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
