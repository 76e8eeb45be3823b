"""The least noise for a claim: the value found is verified, one a billionth below is refuted."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import (
    ZCDP,
    ApproxDP,
    Calibration,
    GaussianDP,
    ParameterError,
    PureDP,
    RenyiDP,
    Verdict,
)
from exactdp.accounting import compose
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)
from exactdp.verify import Claim, Family, audit, calibrate
from exactdp.verify.families import choose

BILLIONTH = Fraction(1, 10**9)

LAPLACE = Family("scale", lambda value: AdditiveNoise(DiscreteLaplace(value), 1))
WIDE_LAPLACE = Family("scale", lambda value: AdditiveNoise(DiscreteLaplace(value), 7))
SKELLAM = Family("variance", lambda value: AdditiveNoise(Skellam(value), 1))
GAUSSIAN = Family("sigma2", lambda value: AdditiveNoise(DiscreteGaussian(value), 1))
GAUSSIAN_SUM = Family("sigma2", lambda value: AdditiveNoise(DiscreteGaussianSum(8, value), 1))
POLYA = Family("scale", lambda value: AdditiveNoise(PolyaDifference("0.9", value), 1))
BINOMIAL = Family("trials", lambda n: AdditiveNoise(Binomial(n, "1/2"), 1), 100, is_whole=True)
RESPONSE = Family("epsilon", RandomizedResponse, falls=False)


def check(family: Family, claim: Claim, times: int = 1) -> Calibration:
    """What holds of every answer, audited again from the beginning."""
    found = calibrate(family, claim, times)
    assert found.parameter == family.parameter
    assert found.verified.verdict is Verdict.VERIFIED
    assert found.refuted.verdict is Verdict.REFUTED
    assert found.verified.claim == found.refuted.claim == claim
    assert (found.neighbour < found.value) == family.falls
    gap = abs(found.value - found.neighbour)
    if family.is_whole:
        assert gap == 1
        assert found.value.denominator == found.neighbour.denominator == 1
    else:
        assert 0 < gap <= BILLIONTH * max(found.value, found.neighbour)
    for value, outcome in ((found.value, found.verified), (found.neighbour, found.refuted)):
        again = audit(compose((family.build(value), times)), claim)
        assert again.verdict is outcome.verdict
        overlap = again.measured.at_most(outcome.measured.upper) is not False
        assert overlap and again.measured.at_least(outcome.measured.lower) is not False
    return found


def near(found: Calibration, truth: mpf) -> bool:
    """Is the truth between the two values, to what mpmath computes it?"""
    low, high = sorted((found.value, found.neighbour))
    return (
        mpf(low.numerator) / low.denominator <= truth * (1 + mpf(10) ** -25)
        and truth * (1 - mpf(10) ** -25) <= mpf(high.numerator) / high.denominator
    )


# -- against closed forms -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "claim", "times", "value"),
    [
        (LAPLACE, PureDP("0.1"), 1, 10),
        (LAPLACE, PureDP("0.5"), 64, 128),
        (WIDE_LAPLACE, PureDP("0.5"), 1, 14),
        (LAPLACE, ApproxDP("0.5", 0), 1, 2),
        (GAUSSIAN, ZCDP("0.05"), 1, 10),
        (GAUSSIAN, RenyiDP(2, "0.1"), 1, 10),
        (GAUSSIAN, RenyiDP(2, 1), 16, 16),
        (RESPONSE, PureDP("0.7"), 1, "0.7"),
        (RESPONSE, PureDP(1), 64, "0.015625"),
    ],
)
def test_round_answers_are_found_exactly(
    family: Family, claim: Claim, times: int, value: str | int
) -> None:
    assert check(family, claim, times).value == Fraction(value)


def test_an_answer_that_no_decimal_is() -> None:
    found = check(LAPLACE, PureDP("0.3"))  # the scale is 10/3
    assert found.neighbour < Fraction(10, 3) < found.value


def test_discrete_laplace_for_an_approximate_claim() -> None:
    # one use, sensitivity 1: delta = (b - a)/(1 + b) for b = e^epsilon0, a = e^epsilon
    found = check(LAPLACE, ApproxDP(1, "1e-6"))
    with mpmath.workdps(40):
        delta = mpf(10) ** -6
        assert near(found, 1 / mpmath.log((mpmath.e + delta) / (1 - delta)))


def test_randomized_response_for_an_approximate_claim() -> None:
    found = check(RESPONSE, ApproxDP(1, "1e-6"))
    with mpmath.workdps(40):
        delta = mpf(10) ** -6
        assert near(found, mpmath.log((mpmath.e + delta) / (1 - delta)))


def test_randomized_response_for_zcdp() -> None:
    found = check(RESPONSE, ZCDP("0.05"))
    with mpmath.workdps(40):
        truth = mpmath.findroot(lambda x: x * mpmath.tanh(x / 2) - mpf("0.05"), 0.3)
        assert near(found, truth)


@pytest.mark.slow_cases("discrete-gaussian")
@pytest.mark.parametrize("name", ["discrete-laplace", "skellam", "discrete-gaussian"])
def test_the_least_noise_for_gaussian_dp(name: str) -> None:
    family = choose(name, "2", None).family
    found = check(family, GaussianDP("0.3"))
    assert found.least.proved and found.from_on.proved
    noise = {
        "discrete-laplace": oracles.discrete_laplace,
        "skellam": oracles.skellam,
        "discrete-gaussian": oracles.discrete_gaussian,
    }[name]
    with mpmath.workdps(40):
        for value, sign in ((found.value, -1), (found.neighbour, 1)):
            pmf = noise(value)
            tails = [(1 - pmf(0)) / 2, (1 - pmf(0)) / 2 - pmf(1)]  # P(X >= 1), P(X >= 2)
            mu = mpmath.fsum(mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail) for tail in tails)
            assert sign * (mu - mpf("0.3")) > 0


def test_binomial_by_its_own_sum() -> None:
    def delta(trials: int) -> Fraction:
        """At epsilon = log 3: exact, from (outcomes x and x - 1) of equal masses 2^-n."""
        total = Fraction(0)
        ways, before = 1, 0
        for x in range(trials + 2):
            total += max(Fraction(ways - 3 * before, 2**trials), Fraction(0))
            before, ways = ways, (ways * (trials - x) // (x + 1) if x <= trials else 0)
        return total

    found = calibrate(BINOMIAL, ApproxDP("1.098612288668109691395245237", "1e-2"))
    least = next(n for n in range(1, 99) if delta(n) <= Fraction(1, 100))
    assert found.value == least


def test_zero_epsilon_is_a_claim_about_total_variation() -> None:
    found = check(LAPLACE, ApproxDP(0, "0.1"))
    with mpmath.workdps(40):  # (1 - b)/(1 + b) = tanh(1/(2 scale))
        assert near(found, 1 / (2 * mpmath.atanh(mpf("0.1"))))
    assert found.verified.measured.at_most(0) is True
    assert found.refuted.measured.greater_than(0) is True


# -- every family, every claim that it can meet ---------------------------------------------------


@pytest.mark.slow_cases("family4-claim4-10", "family7-claim7-1")
@pytest.mark.parametrize(
    ("family", "claim", "times"),
    [
        (LAPLACE, RenyiDP("3/2", "1/3"), 1),
        (LAPLACE, ZCDP("0.05"), 3),
        (WIDE_LAPLACE, ApproxDP(1, "1e-9"), 64),
        (SKELLAM, RenyiDP(2, "0.1"), 1),
        (SKELLAM, ZCDP("0.05"), 10),
        (GAUSSIAN, RenyiDP("2.5", "0.3"), 7),
        (GAUSSIAN_SUM, RenyiDP(4, "0.1"), 2),
        (POLYA, PureDP("0.5"), 1),
        (RESPONSE, RenyiDP(2, "0.1"), 64),
        (RESPONSE, ApproxDP(1, "1e-30"), 1000),
    ],
)
def test_verified_and_refuted_below(family: Family, claim: Claim, times: int) -> None:
    check(family, claim, times)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "claim", "times"),
    [
        (SKELLAM, ApproxDP(1, "1e-6"), 1),
        (GAUSSIAN, ApproxDP(1, "1e-6"), 1),
        (GAUSSIAN, ApproxDP(1, "1e-6"), 64),
        (POLYA, RenyiDP(2, "0.1"), 1),
        (POLYA, ZCDP("0.05"), 1),
        (BINOMIAL, ApproxDP(2, "1e-2"), 1),
        (BINOMIAL, ApproxDP(1, "1e-6"), 4),
    ],
)
def test_verified_and_refuted_below_slowly(family: Family, claim: Claim, times: int) -> None:
    check(family, claim, times)


@pytest.mark.slow
def test_skellam_over_64_uses() -> None:
    family = Family("variance", lambda value: AdditiveNoise(Skellam(value), 32), 1024.0)
    found = calibrate(family, ApproxDP(1, "1e-6"), 64)
    assert found.verified.measured.at_most(1) is True
    assert found.refuted.measured.greater_than(1) is True
    assert found.value - found.neighbour <= BILLIONTH * found.value


def test_the_start_does_not_matter() -> None:
    claim = ApproxDP(1, "1e-6")
    for start in (1e-9, 1e-3, 1e5, 1e15):
        found = calibrate(Family("scale", LAPLACE.build, start), claim)
        known = calibrate(LAPLACE, claim)
        assert abs(found.value - known.value) <= BILLIONTH * known.value


# -- what no value meets, and what every value does -----------------------------------------------


@pytest.mark.parametrize(
    ("family", "claim", "named"),
    [
        (SKELLAM, PureDP(1), "no variance"),
        (GAUSSIAN, ApproxDP(1, 0), "no sigma2"),
        (BINOMIAL, PureDP(1), "no trials"),
        (BINOMIAL, ApproxDP(100, "0.9"), "every trials"),
        (LAPLACE, ApproxDP(1, 1), "every scale"),
        (LAPLACE, PureDP(0), "cannot be met"),
        (LAPLACE, PureDP("1e-20"), "no scale"),
        (LAPLACE, PureDP("1e20"), "every scale"),
        (LAPLACE, ZCDP(0), "cannot be met"),
    ],
)
def test_targets_out_of_reach(family: Family, claim: Claim, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        calibrate(family, claim)


@pytest.mark.parametrize("times", [0, -1, "1.5", True, 10**9 + 1])
def test_times_must_be_a_number_of_uses(times: object) -> None:
    with pytest.raises(ParameterError, match="times"):
        calibrate(LAPLACE, PureDP(1), times)  # type: ignore[arg-type]
