"""The least accuracy and modulus: met, and not met one below, by brute force."""

from fractions import Fraction

import pytest

from exactdp import ParameterError
from exactdp.mechanisms import DiscreteLaplace, FiniteLaw, PolyaDifference, Skellam
from exactdp.mechanisms.protocols import SumProtocol, Trust
from exactdp.mechanisms.protocols.least import least_accuracy, least_modulus

PROTOCOLS = [
    SumProtocol(3, 2, 4, 15, Skellam(2)),
    SumProtocol(3, 2, 4, 15, PolyaDifference(Fraction(1, 3), 1)),
    SumProtocol(3, 2, 4, 15, DiscreteLaplace(1), Trust.CENTRAL),
]


def test_no_accuracy_below_zero() -> None:
    found = least_accuracy(PROTOCOLS[0], 1)
    assert found.accuracy == 0 and found.neighbour is None and found.exceeding is None
    assert least_modulus(PROTOCOLS[0], 1).modulus == 7


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
