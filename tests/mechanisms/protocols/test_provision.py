"""Over-provisioned shares: what is left when d users vanish keeps the guarantee, by accounting."""

from fractions import Fraction

import oracles
import pytest

from exactdp import Enclosure, ParameterError
from exactdp.accounting import compose
from exactdp.mechanisms import (
    Binomial,
    FiniteLaw,
    Skellam,
    papers,
)
from exactdp.mechanisms.protocols import SumProtocol
from exactdp.mechanisms.protocols.provision import provisioned

HALF = Fraction(1, 2)


def test_skellam_and_gaussian_keep_their_curves() -> None:
    skellam = papers.theorem2("0.5", 64, 1000, 10).protocol
    found = provisioned(skellam, 16)
    assert found.remaining == skellam.total_noise()
    assert found.variance_ratio.contains(Fraction(4, 3))
    gaussian = papers.theorem4("0.5", 64, 1000, 10).protocol
    larger = provisioned(gaussian, 16)
    assert larger.changed == "sigma2" and larger.gap.at_most(Fraction(1, 10**20)) is True
    assert larger.gap.upper > 0  # sums of discrete Gaussians are not quite one
    about = Enclosure(Fraction(133333, 10**5), Fraction(133334, 10**5))
    oracles.assert_meet(larger.variance_ratio, about)
    for order in (2, 16):
        target = compose(gaussian.released()).renyi(order)
        left = compose(larger.protocol.released(16)).renyi(order)
        gap = Fraction(larger.gap.upper) * (2 * order - 1) / (order - 1)
        assert Fraction(left.lower) <= Fraction(target.upper) + gap
        assert compose(gaussian.released(16)).renyi(order).greater_than(target.upper) is True


def test_binomial_trials_are_rounded_up() -> None:
    protocol = SumProtocol(10, 1, 50, None, Binomial(7, HALF))
    found = provisioned(protocol, 3)
    assert found.protocol.noise == Binomial(10, HALF)
    assert found.remaining == Binomial(70, HALF)


def test_bad_input_is_refused() -> None:
    protocol = SumProtocol(4, 1, 5, None, Skellam(2))
    with pytest.raises(ParameterError, match="dropout"):
        provisioned(protocol, 4)
    fixed = SumProtocol(4, 1, 5, None, FiniteLaw({0: "0.5", 1: "0.5"}))
    with pytest.raises(ParameterError, match="larger shares"):
        provisioned(fixed, 1)
