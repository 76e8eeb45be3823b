"""What is said of how the integrand falls outside of a rule's nodes holds, and is not far off."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import oracles
import pytest
from flint import arb
from mpmath import mpf

from exactdp.accounting.losses.continuous.sampled_gaussian import SampledGaussian
from exactdp.exact.precision import enclose, working_precision

_NOISES = ("1/2", "3/2", "4")


def _log_weight(rate, noise, power, x):
    q, t = oracles.real(rate), oracles.real(noise)
    ratio = 1 - q + q * mpmath.exp((2 * x - 1) / (2 * t**2))
    return power * mpmath.log(ratio) - x**2 / (2 * t**2)


@pytest.mark.parametrize("power", [0, 1, 3, 12, -1, -5])
@pytest.mark.parametrize("noise", _NOISES)
@pytest.mark.parametrize("rate", ["1/10", "1"])
def test_slopes_beyond_the_nodes(rate: str, noise: str, power: int) -> None:
    law, t = SampledGaussian(Fraction(rate), Fraction(noise), power >= 0), oracles.real(noise)
    far = 9 * t * (1 + t) + 2 * abs(power)
    low, high = -far, far + max(power, 0)
    with working_precision(96):
        found = law._slopes(arb(power), arb(float(low)), arb(float(high)))
        rise, fall = (oracles.real(Fraction(enclose(each).lower)) for each in found)
    assert rise > 0 and fall > 0
    for k in range(1, 60, 6):
        step = mpf(k) / 3
        below = _log_weight(rate, noise, power, low) - _log_weight(rate, noise, power, low - step)
        above = _log_weight(rate, noise, power, high) - _log_weight(rate, noise, power, high + step)
        assert below >= rise * step * (1 - mpf(10) ** -9)
        assert above >= fall * step * (1 - mpf(10) ** -9)
    tiny = mpf(10) ** -6
    here = _log_weight(rate, noise, power, high) - _log_weight(rate, noise, power, high + tiny)
    assert here <= 2 * fall * tiny


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize("noise", _NOISES)
@pytest.mark.parametrize("c", ["1/2", "3", "20"])
def test_moments_are_enclosed(c: str, noise: str, removing: bool) -> None:
    rate, t = "1/10", oracles.real(noise)
    power = oracles.real(c) + 1 if removing else -oracles.real(c)

    def weighed(x):
        return mpmath.exp(_log_weight(rate, noise, power, x)) / (t * mpmath.sqrt(2 * mpmath.pi))

    with mpmath.workdps(30):
        first, last = min(power, 0) - 16 * t, max(power, 0) + 16 * t
        truth = mpmath.quad(weighed, mpmath.linspace(first, last, 25))
    law = SampledGaussian(Fraction(rate), Fraction(noise), removing)
    with working_precision(96):
        found = enclose(law.transform(arb(float(Fraction(c)))).real)
        rough = [enclose(end) for end in law.rough(arb(float(Fraction(c))))]
    oracles.assert_holds(found, truth)
    assert rough[0].lower <= found.upper and found.lower <= rough[1].upper
