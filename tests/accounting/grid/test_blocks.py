"""Noise too wide for its outcomes to be listed one by one: as the Gaussian, reduced or not."""

from __future__ import annotations

import pytest

import exactdp
from exactdp import time_limit


@pytest.mark.slow
@pytest.mark.contract
def test_wide_noise_that_is_reduced_is_told_within_its_period() -> None:
    wide = exactdp.compose("skellam:variance=1e10,sensitivity=100000*20")
    reduced = exactdp.compose("skellam:variance=1e10,sensitivity=100000,modulus=2097152*20")
    with time_limit(20):  # of a few seconds' worth
        whole = wide.epsilon("1e-6")
    with time_limit(20):
        found = reduced.epsilon("1e-6")
    assert found.lower <= whole.upper
    assert float(found.lower) > 0.999 * float(whole.lower)


@pytest.mark.slow
@pytest.mark.contract
@pytest.mark.parametrize(
    "spec",
    [
        "skellam:variance=1e14,sensitivity=10000000",
        pytest.param(
            "discrete-gaussian-sum:count=100,sigma2=1e12,sensitivity=10000000",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "binomial:trials=4e14,probability=1/2,sensitivity=10000000", marks=pytest.mark.slow
        ),
    ],
)
def test_wide_noise_costs_what_a_gaussian_does(spec: str) -> None:
    """Of 10^7 deviations it is a Gaussian but for about 10^-14 of the figure."""
    gaussian = exactdp.compose("gaussian:sigma=1*20")
    found = exactdp.compose(spec + "*20")
    for figure in ("epsilon", "delta"):
        at = "1e-6" if figure == "epsilon" else "25"
        truth, one = float(getattr(gaussian, figure)(at)), getattr(found, figure)(at)
        assert float(one.lower) < truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) < float(one.upper)
        assert float(one.upper) < float(one.lower) * 1.01
