"""The least noise for a claim: the value found is verified, one a billionth below is refuted."""

from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import mpf

import exactdp
from exactdp import Calibration, ParameterError, Verdict

pytestmark = pytest.mark.contract
Family = tuple[str, int | None]
BILLIONTH = Fraction(1, 10**9)
LAPLACE, WIDE_LAPLACE = ("discrete-laplace", 1), ("discrete-laplace", 7)
SKELLAM, GAUSSIAN = ("skellam", 1), ("discrete-gaussian", 1)
GAUSSIAN_SUM, POLYA = ("discrete-gaussian-sum:count=8", 1), ("polya-difference:shape=0.9", 1)
BINOMIAL, RESPONSE = ("binomial:probability=1/2", 1), ("randomized-response", None)


def check(family: Family, claim: str, times: int = 1) -> Calibration:
    """What holds of every answer, audited again from the beginning."""
    found = exactdp.calibrate(family[0], claim, family[1], times)
    assert found.verified.verdict is Verdict.VERIFIED
    assert found.refuted.verdict is Verdict.REFUTED
    assert (found.neighbour < found.value) == (family is not RESPONSE)
    gap = abs(found.value - found.neighbour)
    if family is BINOMIAL:
        assert gap == 1 and found.value.denominator == 1
    else:
        assert 0 < gap <= BILLIONTH * max(found.value, found.neighbour)
    moved = "" if family[1] is None else f",sensitivity={family[1]}"
    joined = "," if ":" in family[0] else ":"
    for value, outcome in ((found.value, found.verified), (found.neighbour, found.refuted)):
        spec = f"{family[0]}{joined}{found.parameter}={value}{moved}"
        again = exactdp.audit(times * exactdp.mechanism(spec), claim)
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
        (LAPLACE, "pure:0.1", 1, 10),
        (LAPLACE, "pure:0.5", 64, 128),
        (WIDE_LAPLACE, "pure:0.5", 1, 14),
        (LAPLACE, "approx:0.5,0", 1, 2),
        (GAUSSIAN, "zcdp:0.05", 1, 10),
        (GAUSSIAN, "rdp:2,0.1", 1, 10),
        (GAUSSIAN, "rdp:2,1", 16, 16),
        (RESPONSE, "pure:0.7", 1, "0.7"),
        (RESPONSE, "pure:1", 64, "0.015625"),
    ],
)
def test_round_answers_are_found_exactly(
    family: Family, claim: str, times: int, value: str | int
) -> None:
    assert check(family, claim, times).value == Fraction(value)


def test_an_answer_that_no_decimal_is() -> None:
    found = check(LAPLACE, "pure:0.3")  # the scale is 10/3
    assert found.neighbour < Fraction(10, 3) < found.value


def test_one_use_for_an_approximate_claim() -> None:
    # sensitivity 1: delta = (b - a)/(1 + b) for b = e^epsilon0, a = e^epsilon
    scale, epsilon0 = check(LAPLACE, "approx:1,1e-6"), check(RESPONSE, "approx:1,1e-6")
    with mpmath.workdps(40):
        delta = mpf(10) ** -6
        truth = mpmath.log((mpmath.e + delta) / (1 - delta))
        assert near(scale, 1 / truth) and near(epsilon0, truth)


def test_randomized_response_for_zcdp() -> None:
    found = check(RESPONSE, "zcdp:0.05")
    with mpmath.workdps(40):
        truth = mpmath.findroot(lambda x: x * mpmath.tanh(x / 2) - mpf("0.05"), 0.3)
        assert near(found, truth)


@pytest.mark.slow_cases("discrete-gaussian")
@pytest.mark.parametrize("name", ["discrete-laplace", "skellam", "discrete-gaussian"])
def test_the_least_noise_for_gaussian_dp(name: str) -> None:
    found = check((name, 2), "gdp:0.3")
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

    found = exactdp.calibrate(BINOMIAL[0], "approx:1.098612288668109691395245237,1e-2", 1)
    least = next(n for n in range(1, 99) if delta(n) <= Fraction(1, 100))
    assert found.value == least


def test_zero_epsilon_is_a_claim_about_total_variation() -> None:
    found = check(LAPLACE, "approx:0,0.1")
    with mpmath.workdps(40):  # (1 - b)/(1 + b) = tanh(1/(2 scale))
        assert near(found, 1 / (2 * mpmath.atanh(mpf("0.1"))))
    assert found.verified.measured.at_most(0) is True
    assert found.refuted.measured.greater_than(0) is True


# -- every family, every claim that it can meet ---------------------------------------------------


@pytest.mark.slow_cases("family5-rdp:4,0.1-2")
@pytest.mark.parametrize(
    ("family", "claim", "times"),
    [
        (LAPLACE, "rdp:3/2,1/3", 1),
        (LAPLACE, "zcdp:0.05", 3),
        (WIDE_LAPLACE, "approx:1,1e-9", 64),
        (SKELLAM, "rdp:2,0.1", 1),
        (GAUSSIAN, "rdp:2.5,0.3", 7),
        (GAUSSIAN_SUM, "rdp:4,0.1", 2),
        (RESPONSE, "rdp:2,0.1", 64),
        (RESPONSE, "approx:1,1e-30", 1000),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                (SKELLAM, "zcdp:0.05", 10),
                (POLYA, "pure:0.5", 1),
                (SKELLAM, "approx:1,1e-6", 1),
                (GAUSSIAN, "approx:1,1e-6", 1),
                (GAUSSIAN, "approx:1,1e-6", 64),
                (POLYA, "rdp:2,0.1", 1),
                (POLYA, "zcdp:0.05", 1),
                (BINOMIAL, "approx:2,1e-2", 1),
                (BINOMIAL, "approx:1,1e-6", 4),
            )
        ),
    ],
)
def test_verified_and_refuted_below(family: Family, claim: str, times: int) -> None:
    check(family, claim, times)


# -- what no value meets, and what every value does -----------------------------------------------


@pytest.mark.parametrize(
    ("family", "claim", "named"),
    [
        (SKELLAM, "pure:1", "no variance"),
        (GAUSSIAN, "approx:1,0", "cannot be met"),
        (BINOMIAL, "pure:1", "no trials"),
        (BINOMIAL, "approx:100,0.9", "every trials"),
        (LAPLACE, "approx:1,1", "every scale"),
        (LAPLACE, "pure:0", "cannot be met"),
        (LAPLACE, "pure:1e-20", "no scale"),
        (LAPLACE, "pure:1e20", "every scale"),
        (LAPLACE, "zcdp:0", "cannot be met"),
    ],
)
def test_targets_out_of_reach(family: Family, claim: str, named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        exactdp.calibrate(family[0], claim, family[1])


@pytest.mark.parametrize("times", [0, -1, "1.5", True, 10**9 + 1])
def test_times_must_be_a_number_of_uses(times: object) -> None:
    with pytest.raises(ParameterError, match="times"):
        exactdp.calibrate(LAPLACE[0], "pure:1", 1, times)  # type: ignore[arg-type]
