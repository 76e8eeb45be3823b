"""The algorithms' protocols against the papers' presets, and sums of bits by their tau."""

import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from attrs import evolve

from exactdp.bandit.algorithms import (
    ALGORITHMS,
    CDP_SE,
    DIST_CDP_KLUCB,
    DIST_CDP_SE,
    DIST_DP_KLUCB,
    DIST_DP_SE,
    DIST_GAUSS_KLUCB,
    DIST_RDP_KLUCB,
    DIST_RDP_SE,
    LDP_SE,
    SHUFFLE_DP_SE,
    VB_SDP_AE,
)
from exactdp.bandit.algorithms.algorithm import Elimination
from exactdp.bandit.evidence import NotVerifiedError, audited
from exactdp.bandit.lower_bound import Barrier
from exactdp.bandit.setting import Setting
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.laws import Binomial, DiscreteGaussian, Skellam
from exactdp.protocols import Trust

SETTING = Setting(3, 10**5, "0.3", scaling=7, delta="1e-4")
TAU = math.ceil(96 * math.log(2e4) / 0.09)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.name)
def test_indices_ask_for_the_confidence_that_regret_needs(algorithm):
    p = [algorithm.usual_confidence(horizon) for horizon in (2, 10**6)]
    least = 42 if algorithm is DIST_DP_KLUCB else 1  # 3 log(T) = 41.4
    eliminates = isinstance(algorithm.rule, Elimination)
    assert p == [Fraction(1, 10), Fraction(1, 10) if eliminates else Fraction(least, 10**6)]


@pytest.mark.parametrize(
    ("algorithm", "preset", "more"),
    [
        (DIST_DP_SE, papers.theorem1, ()),
        (DIST_RDP_SE, papers.theorem2, (7,)),
        (SHUFFLE_DP_SE, papers.theorem3, ()),
        (DIST_CDP_SE, papers.theorem4, (7,)),
        (CDP_SE, papers.theorem5, ()),
        (LDP_SE, papers.theorem6, ()),
    ],
    ids=lambda value: getattr(value, "name", None),
)
@pytest.mark.parametrize("users", [2, 5, 64, 1000])
def test_protocols_are_those_of_the_theorems(algorithm, preset, more, users):
    stated = preset("0.3", users, 10**5, *more).protocol
    assert algorithm.release(SETTING, users).protocol == stated


TWINS = [(DIST_RDP_KLUCB, DIST_RDP_SE, Skellam), (DIST_CDP_KLUCB, DIST_CDP_SE, DiscreteGaussian)]


@pytest.mark.parametrize(("indexed", "twin", "law"), TWINS, ids=["rdp", "cdp"])
def test_index_policies_have_the_twin_s_release_of_all_users(indexed, twin, law):
    """A batch of n users has the grid, tau and noise of T users, in n shares, and its claim."""
    users = SETTING.horizon
    whole = indexed.release(SETTING, users).protocol
    assert whole == twin.release(SETTING, users).protocol
    few = indexed.release(SETTING, 40).protocol
    (width,) = few.noise.fields().keys() - {"name"}
    assert isinstance(few.noise, law)
    assert getattr(few.noise, width) * 40 == getattr(whole.noise, width) * users
    assert (few.precision, few.accuracy) == (whole.precision, whole.accuracy)
    assert few.modulus == 40 * few.precision + 2 * few.accuracy + 1
    assert indexed.demand(SETTING) == twin.demand(SETTING)
    assert indexed.barrier is Barrier.NONE  # the bound of global DP is of pure DP


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-6"), ("1", "1e-9"), ("4", "0.1")])
def test_gaussian_noise_is_as_wide_as_its_claim_needs(epsilon, delta):
    """By the exact profile of continuous noise, and hardly wider; certified of the sum itself."""
    setting = Setting(2, 2000, epsilon, delta=delta, scaling=2)
    protocol = DIST_GAUSS_KLUCB.release(setting, 50).protocol
    deviation = math.sqrt(protocol.noise.sigma2 * 50) / protocol.precision

    def spent(d):  # Balle and Wang, ICML 2018, Theorem 8
        e, phi = float(epsilon), NormalDist().cdf
        return phi(1 / (2 * d) - e * d) - math.exp(e) * phi(-1 / (2 * d) - e * d)

    assert spent(deviation) <= float(delta) <= spent(deviation - 0.0011)
    demand = DIST_GAUSS_KLUCB.demand(setting)
    assert audited(protocol, demand).measured.at_most(setting.epsilon)
    noise = DiscreteGaussian(protocol.noise.sigma2 * Fraction(99, 100))
    with pytest.raises(NotVerifiedError):
        audited(evolve(protocol, noise=noise), demand)


@pytest.mark.parametrize("users", [1, 2, 1000, TAU - 1, TAU, TAU + 1, 10**7])
def test_noise_bits_follow_algorithm_3(users):
    release = VB_SDP_AE.release(SETTING, users)
    assert release.precision == 1
    assert release.protocol.modulus is None
    assert release.protocol.trust is Trust.DISTRIBUTED
    if users <= TAU:
        each = math.ceil(TAU / users)
        assert release.noise == Binomial(each * users, Fraction(1, 2))
        assert release.centre == Fraction(each * users, 2)
        assert release.bits_per_user == 1 + each
    else:
        assert release.noise == Binomial(users, Fraction(TAU, 2 * users))
        assert release.centre == Fraction(TAU, 2)
        assert release.bits_per_user == 2
