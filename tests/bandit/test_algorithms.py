"""The algorithms' protocols against the papers' presets, and sums of bits by their tau."""

import math
from fractions import Fraction

import pytest

from exactdp.bandit.algorithms import (
    ALGORITHMS,
    CDP_SE,
    DIST_CDP_SE,
    DIST_DP_SE,
    DIST_RDP_SE,
    LDP_SE,
    SDP_AE,
    SHUFFLE_DP_SE,
    VB_SDP_AE,
)
from exactdp.bandit.setting import Setting
from exactdp.mechanisms import papers
from exactdp.mechanisms.laws import Binomial
from exactdp.mechanisms.protocols import Trust

SETTING = Setting(3, 10**5, "0.3", scaling=7, delta="1e-4")
TAU = math.ceil(96 * math.log(2e4) / 0.09)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.name)
def test_indices_ask_for_the_confidence_that_regret_needs(algorithm):
    p = [algorithm.usual_confidence(horizon) for horizon in (2, 10**6)]
    assert p == (
        [Fraction(1, 10), Fraction(1, 10**6)] if algorithm.indexed else [Fraction(1, 10)] * 2
    )
    assert algorithm.usual_confidence(10**6, Fraction(1, 10**7)) == Fraction(1, 10**7)


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


def test_names_are_distinct_and_all_there():
    assert [algorithm.name for algorithm in ALGORITHMS] == [
        *("dist-dp-se", "dist-rdp-se", "dist-cdp-se", "cdp-se", "ldp-se", "shuffle-dp-se"),
        *("dp-se", "sdp-ae", "vb-sdp-ae", "se", "dist-dp-klucb", "dp-klucb", "kl-ucb"),
    ]


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


def test_constant_batches_are_as_large_as_their_noise_is_wide():
    users = SDP_AE.schedule(SETTING, 1, 3)
    assert users == SDP_AE.schedule(SETTING, 50, 2)
    noise = SDP_AE.release(SETTING, users).noise
    assert noise.trials / 4 == users  # sigma² of fair bits


def test_bits_per_user_are_those_of_the_modulus():
    release = DIST_DP_SE.release(SETTING, 64)
    assert 2 ** (release.bits_per_user - 1) < release.protocol.modulus <= 2**release.bits_per_user
