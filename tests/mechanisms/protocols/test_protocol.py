"""What a protocol says of itself: its window, its bits, and what is released of it."""

import pytest

from exactdp import ParameterError
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.protocols import SumProtocol, Trust


def protocol(noise, modulus=100, users=8, trust=Trust.DISTRIBUTED):
    return SumProtocol(users, 4, 10, modulus, noise, trust)


def test_the_window_and_the_bits():
    assert protocol(Skellam(1)).window == (-10, 89)
    assert [protocol(Skellam(1), m).bits_per_user for m in (1, 2, 3, 64, 65, 2**70)] == [
        0,
        1,
        2,
        6,
        7,
        70,
    ]
    assert protocol(Skellam(1), None).window is None
    assert protocol(Skellam(1), None).bits_per_user is None


def test_a_modulus_decodes_when_all_sums_are_in_the_window():
    assert protocol(Skellam(1), 43).decodes  # -10, ..., 32 = n g
    assert not protocol(Skellam(1), 42).decodes
    assert protocol(Skellam(1), None).decodes


@pytest.mark.parametrize(
    ("noise", "left"),
    [
        (PolyaDifference("1/8", 3), PolyaDifference("5/8", 3)),
        (PolyaDifference("1/5", 3), DiscreteLaplace(3)),  # over-provisioned for three missing
        (Skellam("0.5"), Skellam("2.5")),
        (DiscreteGaussian(2), DiscreteGaussianSum(5, 2)),
    ],
)
def test_shares_that_are_missing_or_known_take_their_noise_with_them(noise, left):
    assert protocol(noise).released(dropout=1, collusion=2) == AdditiveNoise(left, 4, 100)
    assert protocol(noise).released(3) == protocol(noise).released(0, 3)
    assert protocol(noise).total_noise(3) == left


def test_noise_that_is_made_of_no_shares_stays_whole():
    for trust in (Trust.CENTRAL, Trust.LOCAL):
        whole = protocol(DiscreteLaplace(3), trust=trust).released(5, 2)
        assert whole == AdditiveNoise(DiscreteLaplace(3), 4, 100)
    assert protocol(DiscreteLaplace(3), trust=Trust.CENTRAL).total_noise(5) == DiscreteLaplace(3)
    # the analyzed sum of the local model has the noise of all who are there
    local = protocol(DiscreteLaplace(3), trust=Trust.LOCAL)
    assert local.total_noise(5) == PolyaDifference(3, 3)


@pytest.mark.parametrize("trust", Trust)
def test_somebody_must_be_left(trust):
    small = protocol(DiscreteLaplace(3), trust=trust)
    assert small.released(7) == small.released(3, 4)
    for dropout, collusion in ((8, 0), (0, 8), (4, 4), (10**30, 0), (-1, 0), ("1/2", 0), (0, -1)):
        with pytest.raises(ParameterError, match=r"dropout|collusion"):
            small.released(dropout, collusion)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((0, 1, 1, 10), "users"),
        (("1.5", 1, 1, 10), "users"),
        ((1, 0, 1, 10), "precision"),
        ((1, 1, -1, 10), "accuracy"),
        ((1, 1, 1, 0), "modulus"),
        ((1, 1, 1, float("nan")), "modulus"),
    ],
)
def test_out_of_range_is_refused_by_name(values, named):
    with pytest.raises(ParameterError, match=named):
        SumProtocol(*values, Skellam(1))
