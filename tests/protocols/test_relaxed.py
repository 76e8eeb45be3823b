"""The guarantee over a relaxed secure aggregation, and what is left of it with shares missing."""

from fractions import Fraction

import mpmath
import pytest

from exactdp import ParameterError
from exactdp.accounting import compose
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteLaplace,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.additive.papers import InvertedScale, theorem3
from exactdp.mechanisms.additive.protocol import largest_loss_of_noise
from exactdp.protocols import RelaxedAggregation, SumProtocol


def test_theorem3_is_what_its_proof_needs():
    preset = theorem3("1/2", 1024, 10**6)
    assert preset.precision == 8  # (1/4) sqrt(1024)
    with mpmath.workdps(40):
        stated = int(mpmath.ceil(32 * mpmath.log(4 * mpmath.mpf(10) ** 6)))
    assert preset.accuracy == stated
    assert preset.protocol.modulus == 1024 * 8 + 2 * stated + 1
    assert preset.protocol.noise == PolyaDifference("1/1024", 32)  # e^(-epsilon/(2g)) = e^(-1/32)
    assert preset.protocol.total_noise() == DiscreteLaplace(32)
    assert preset.aggregation == RelaxedAggregation("1/8", Fraction(1, 2 * 10**6))
    assert (
        preset.mechanism
        == preset.aggregation.released(preset.protocol)
        == RandomizedResponse("1/2")
    )
    assert theorem3("1/2", 1024, 10**6, modulus=None).protocol.modulus is None


@pytest.mark.slow_cases("law2-7")
@pytest.mark.parametrize(
    ("law", "g"),
    [
        (DiscreteLaplace("7/2"), 3),
        (DiscreteLaplace(InvertedScale(Fraction(40))), 4),
        (PolyaDifference("0.3", 5), 7),
        (PolyaDifference("0.3", InvertedScale(Fraction(40))), 4),
        (PolyaDifference("2.5", 5), 7),
    ],
)
def test_the_loss_of_noise_is_its_pure_epsilon(law, g):
    found = largest_loss_of_noise(law, g)
    truth = compose(AdditiveNoise(law, g)).pure()
    assert found >= truth.lower
    assert found - Fraction(truth.upper) <= found / 10**17
    # and of its reduction mod m, which is post-processing
    assert compose(AdditiveNoise(law, g, 101)).pure().at_most(found) is True


def test_noise_of_infinite_pure_epsilon_is_refused():
    with pytest.raises(ParameterError, match="no finite pure epsilon"):
        RelaxedAggregation("1/8", 0).released(SumProtocol(4, 2, 5, 40, Skellam(1)))


def test_what_it_leaks_and_how_often_it_fails():
    relaxed = RelaxedAggregation("1/8", "0.01")
    assert relaxed.leak == Fraction(1, 4)
    for wrong in ((-1, 0), (0, -1), (0, "1.1"), (float("nan"), 0)):
        with pytest.raises(ParameterError, match=r"epsilon|failure"):
            RelaxedAggregation(*wrong)
