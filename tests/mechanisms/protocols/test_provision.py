"""Over-provisioned shares: what is left when d users vanish keeps the guarantee, by accounting."""

from __future__ import annotations

from fractions import Fraction

import oracles
import pytest

from exactdp import Enclosure, ParameterError
from exactdp.accounting import compose
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteLaplace,
    FiniteLaw,
    PolyaDifference,
    Skellam,
    papers,
)
from exactdp.mechanisms.protocols import SumProtocol, Trust
from exactdp.mechanisms.protocols.provision import provisioned, raised_scale

HALF = Fraction(1, 2)


@pytest.mark.slow
def test_polya_shares_make_the_discrete_laplace_again() -> None:
    protocol = papers.theorem1("0.5", 64, 1000, None).protocol
    found = provisioned(protocol, 6)
    assert found.changed == "shape"
    assert found.protocol.noise == PolyaDifference(Fraction(1, 58), 8)
    assert found.remaining == DiscreteLaplace(8)
    assert found.variance_ratio.contains(Fraction(64, 58))
    # fewer missing: never less private than epsilon; as many, exactly epsilon; more, less private
    spent = [compose(found.protocol.released(d)).pure() for d in (0, 3, 6, 7)]
    assert all(each.at_most(HALF) is True for each in spent[:3])
    assert spent[2].contains(HALF) and spent[3].greater_than(HALF) is True
    assert compose(protocol.released(6)).pure().greater_than(HALF) is True


@pytest.mark.slow
def test_raised_scale_keeps_epsilon_and_costs_more() -> None:
    protocol = papers.theorem1("0.5", 64, 1000, None).protocol
    found = raised_scale(protocol, 6)
    assert found is not None
    share = found.protocol.noise
    assert isinstance(share, PolyaDifference) and isinstance(share.scale, Fraction)
    assert share.shape == Fraction(1, 64)
    assert compose(found.protocol.released(6)).pure().at_most(HALF) is True
    smaller = PolyaDifference(Fraction(58, 64), share.scale * (1 - Fraction(1, 10**7)))
    less = AdditiveNoise(smaller, protocol.precision)
    assert compose(less).pure().greater_than(HALF) is True
    by_share = provisioned(protocol, 6)
    assert by_share.alternative == found
    assert found.variance_ratio.greater_than(Fraction(64, 58)) is True


def test_no_scale_does_below_half_the_shape() -> None:
    protocol = papers.theorem1("0.5", 64, 1000, None).protocol
    assert raised_scale(protocol, 40) is None
    assert provisioned(protocol, 40).alternative is None


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


def test_nothing_changes_where_noise_is_not_shared() -> None:
    for trust in (Trust.CENTRAL, Trust.LOCAL):
        protocol = SumProtocol(8, 2, 9, None, DiscreteLaplace(4), trust)
        found = provisioned(protocol, 3)
        assert found.changed == "nothing" and found.protocol == protocol
        assert found.variance_ratio.contains(1)
    whole = papers.theorem1("0.5", 64, 1000, None).protocol
    assert provisioned(whole, 0).protocol == whole


def test_bad_input_is_refused() -> None:
    protocol = SumProtocol(4, 1, 5, None, Skellam(2))
    with pytest.raises(ParameterError, match="dropout"):
        provisioned(protocol, 4)
    fixed = SumProtocol(4, 1, 5, None, FiniteLaw({0: "0.5", 1: "0.5"}))
    with pytest.raises(ParameterError, match="larger shares"):
        provisioned(fixed, 1)
