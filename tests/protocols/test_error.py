"""The error of noise and wrap-around against brute force over all sums of encodings."""

from fractions import Fraction

import mpmath
import pytest
from small_protocols import decoded, noise_table, off

from exactdp import Enclosure
from exactdp.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.additive.error import (
    largest_error,
    noise_quantile,
    off_probability,
    outside,
    wrap_probability,
)
from exactdp.protocols import SumProtocol

SHARES = [
    PolyaDifference(Fraction(1, 3), 1),
    Skellam(2),
    DiscreteGaussian("1.5"),
    FiniteLaw({-2: "0.25", 0: "0.5", 1: "0.125", 5: "0.125"}),
]
# n = 3, g = 2: the theorems' m = 6 + 2 tau + 1, smaller and larger ones, and none
WINDOWS = [(4, 15), (4, 12), (2, 11), (0, 7), (3, 30), (4, None), (5, 6), (2, 3)]


def contains(found: Enclosure, truth: mpmath.mpf) -> bool:
    slack = mpmath.mpf(10) ** -16
    low, high = (mpmath.mpf(str(end)) for end in found.to_json().values())
    return bool(low - slack <= truth <= high + slack)


@pytest.mark.quick_cases(4)
@pytest.mark.slow_cases(
    "1-0-7-DiscreteGaussian",
    "1-0-7-PolyaDifference",
    "1-0-7-Skellam",
    "1-2-11-DiscreteGaussian",
    "1-2-11-PolyaDifference",
    "1-2-3-DiscreteGaussian",
    "1-2-3-PolyaDifference",
    "1-2-3-Skellam",
    "1-3-30-PolyaDifference",
    "1-4-12-DiscreteGaussian",
    "1-4-12-PolyaDifference",
    "1-4-15-DiscreteGaussian",
    "1-4-15-PolyaDifference",
    "1-5-6-DiscreteGaussian",
    "1-5-6-PolyaDifference",
    "1-5-6-Skellam",
)
@pytest.mark.parametrize("share", SHARES, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize(("tau", "m"), WINDOWS)
@pytest.mark.parametrize("missing", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_off_is_worst_over_all_sums(share: object, tau: int, m: int | None, missing: int) -> None:
    protocol = SumProtocol(3, 2, tau, m, share)  # type: ignore[arg-type]
    table = noise_table(protocol.total_noise(missing))
    sums = range(2 * (3 - missing) + 1)
    for t in (None, 1, 5):
        at = tau if t is None else t
        truth = max(off(protocol, table, s, at) for s in sums)
        found = off_probability(protocol, t, missing)
        assert contains(found, truth), (t, found, truth)
        assert found.is_within(Fraction(1, 10**10)) or truth < 1e-15


@pytest.mark.slow_cases("30-DiscreteGaussian", "6-DiscreteGaussian", "400-DiscreteGaussian")
@pytest.mark.parametrize("share", SHARES, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("digits", [6, 30, 400])
def test_a_modulus_out_of_reach_is_as_none(share: object, digits: int) -> None:
    far = SumProtocol(3, 2, 4, 10**digits, share)  # type: ignore[arg-type]
    plain = SumProtocol(3, 2, 4, None, share)  # type: ignore[arg-type]
    for missing in (0, 1):
        found, truth = off_probability(far, 4, missing), off_probability(plain, 4, missing)
        assert found.lower <= truth.upper and truth.lower <= found.upper
        assert found.is_within(Fraction(1, 10**10))
    with_all = noise_table(plain.total_noise())
    assert contains(wrap_probability(far), mpmath.fsum(p for x, p in with_all if x < -4))


def test_error_has_an_end_with_a_modulus() -> None:
    protocol = SumProtocol(3, 2, 4, 12, Skellam(2))
    limit = largest_error(protocol)
    assert limit == max(abs(decoded(protocol, y) - s) for s in range(7) for y in range(12))
    assert off_probability(protocol, limit) == Enclosure.exactly(0)
    assert off_probability(protocol, limit - 1).greater_than(0) is True
    assert noise_quantile(protocol, "1e-300") <= limit
    assert largest_error(SumProtocol(3, 2, 4, None, Skellam(2))) is None


def test_gaps_of_many_periods() -> None:
    law = DiscreteLaplace(50)  # far wider than the period
    truth = mpmath.fsum(law.pmf(x, 20) for x in range(-2000, 2000) if x % 7 not in (0, 1, 6))
    found = outside(law, -1, 1, 7)
    assert abs(float(found.mid()) - float(truth)) < 1e-12
    assert outside(law, -3, 3, 7) == 0
    assert outside(law, 3, 2, 7) == 1
