"""The least accuracy and modulus: met, and not met one below, by brute force."""

from __future__ import annotations

from fractions import Fraction

import pytest
from attrs import evolve
from small_protocols import noise_table, off, wrapped

from exactdp import ParameterError
from exactdp.mechanisms import DiscreteLaplace, FiniteLaw, PolyaDifference, Skellam, papers
from exactdp.mechanisms.protocols import SumProtocol, Trust
from exactdp.mechanisms.protocols.error import off_probability, wrap_probability
from exactdp.mechanisms.protocols.least import least_accuracy, least_modulus

NEARLY = 1 + Fraction(1, 10**9)
PROTOCOLS = [
    SumProtocol(3, 2, 4, 15, Skellam(2)),
    SumProtocol(3, 2, 4, 15, PolyaDifference(Fraction(1, 3), 1)),
    SumProtocol(3, 2, 4, 15, DiscreteLaplace(1), Trust.CENTRAL),
]


def failing(protocol: SumProtocol, tau: int) -> Fraction:
    stated = evolve(protocol, accuracy=tau, modulus=6 + 2 * tau + 1)
    table = noise_table(protocol.total_noise())
    return Fraction(str(max(off(stated, table, s, tau) for s in range(7))))


@pytest.mark.slow_cases("1-protocol0", "3-protocol0")
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("tau", [1, 3, 6])
def test_least_accuracy_at_the_boundary(protocol: SumProtocol, tau: int) -> None:
    chance = failing(protocol, tau)
    met = least_accuracy(protocol, chance * NEARLY)
    assert (met.accuracy, met.modulus) == (tau, 6 + 2 * tau + 1)
    assert met.probability.at_most(chance * NEARLY) is True
    assert met.exceeding is not None and met.exceeding.greater_than(chance * NEARLY) is True
    assert met.neighbour == (tau - 1, 6 + 2 * tau - 1)
    assert least_accuracy(protocol, chance / NEARLY).accuracy == tau + 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_window_of_a_smaller_modulus_does(protocol: SumProtocol) -> None:
    failure = Fraction(1, 50)
    found = least_modulus(protocol, failure)
    assert found.modulus is not None and found.neighbour is not None
    table = noise_table(protocol.total_noise())

    def worst(tau: int, m: int) -> float:
        placed = evolve(protocol, accuracy=tau, modulus=m)
        return max(float(wrapped(placed, table, s)) for s in range(7))

    assert worst(found.accuracy, found.modulus) <= failure
    smaller = found.modulus - 1
    assert min(worst(tau, smaller) for tau in range(smaller)) > failure
    assert (
        wrap_probability(evolve(protocol, accuracy=found.accuracy, modulus=found.modulus)).at_most(
            failure
        )
        is True
    )
    assert found.exceeding is not None and found.exceeding.greater_than(failure) is True


def test_no_accuracy_below_zero() -> None:
    found = least_accuracy(PROTOCOLS[0], 1)
    assert found.accuracy == 0 and found.neighbour is None and found.exceeding is None
    assert least_modulus(PROTOCOLS[0], 1).modulus == 7


@pytest.mark.parametrize("users", [1024, 65536])
def test_papers_ask_for_more_than_needed(users: int) -> None:
    for preset in (
        papers.theorem1("0.5", users, 10**6),
        papers.theorem3("0.5", users, 10**6),
        papers.theorem2("0.5", users, 10**6, 10),
    ):
        failure = Fraction(1, 2 * 10**6) if "3" in preset.source else Fraction(1, 10**6)
        least = least_accuracy(preset.protocol, failure)
        assert preset.accuracy is not None and least.accuracy < preset.accuracy
        assert (
            off_probability(
                evolve(preset.protocol, accuracy=least.accuracy, modulus=least.modulus)
            ).at_most(failure)
            is True
        )
        bits = least.bits_per_user
        assert bits is not None and preset.protocol.bits_per_user is not None
        assert bits <= preset.protocol.bits_per_user
        assert 2 ** (bits - 1) < (least.modulus or 0) <= 2**bits


def test_plain_sums_and_asymmetric_noise() -> None:
    plain = SumProtocol(3, 2, 4, None, Skellam(2))
    assert least_accuracy(plain, "0.01").modulus is None
    assert least_accuracy(plain, "0.01").accuracy == Skellam(6).tail_quantile("0.01")
    with pytest.raises(ParameterError, match="modulus"):
        least_modulus(plain, "0.01")
    skew = SumProtocol(1, 2, 4, 15, FiniteLaw({0: "0.5", 1: "0.5"}))
    with pytest.raises(ParameterError, match="symmetric"):
        least_accuracy(skew, "0.01")
    with pytest.raises(ParameterError, match="failure"):
        least_accuracy(plain, "-1")
