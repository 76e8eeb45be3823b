"""mu_1 against the largest step of quantiles that are summed and inverted apart."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import comb, factorial, log

import mpmath
import oracles
import pytest
from mpmath import mpf
from normal_quantiles import steps

from exactdp.mechanisms.laws import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    Polya,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.laws.gaussian_envelope import NoEnvelopeError, unit_parameter

SUMS = [(2, "0.25"), (3, "0.1"), (4, "1"), (5, "0.04"), (8, "0.16"), (16, "0.4"), (64, "0.25")]


def summed(pmf, count: int, reach: int) -> dict[int, mpf]:
    """The law of a sum, within [-reach, reach]: by doubling where the count allows it."""
    law, copies = {x: pmf(x) for x in range(-reach, reach + 1)}, 1
    one = law
    while copies < count:
        other = law if 2 * copies <= count else one
        law = {
            k: mpmath.fsum(law[j] * other[k - j] for j in range(max(-reach, k - reach), reach + 1))
            for k in range(reach + 1)
        }
        law |= {-k: p for k, p in law.items()}
        copies += copies if other is not one or copies == 1 else 1
    return law


@pytest.mark.slow_cases("PolyaDifference(shape=Fraction(5, 2), scale=Fraction(2, 1))-pmf-8-170")
@pytest.mark.parametrize(
    ("law", "pmf", "last", "reach"),
    [
        (Skellam(4), oracles.skellam(4), 16, 60),
        (Skellam("0.001"), oracles.skellam("0.001"), 6, 30),
        (Skellam(25), oracles.skellam(25), 30, 110),
        (DiscreteGaussian("0.25"), oracles.discrete_gaussian("0.25"), 8, 20),
        (DiscreteGaussian(1), oracles.discrete_gaussian(1), 10, 24),
        (DiscreteGaussian(100), oracles.discrete_gaussian(100), 60, 220),
        (DiscreteLaplace(3), oracles.discrete_laplace(3), 30, 700),
        (PolyaDifference("2.5", 2), oracles.polya_difference("2.5", 2), 8, 170),
        (PolyaDifference(4, "0.3"), oracles.polya_difference(4, "0.3"), 12, 80),
    ],
    ids=lambda each: None if callable(each) else str(each),
)
def test_it_is_the_largest_step(law, pmf, last, reach):
    found = steps(pmf, last, reach)
    assert max(found) == found[0]
    oracles.assert_holds(unit_parameter(law), found[0])
    # by theorem A, t(k)/(k - 1/2) falls
    sums = [sum(found[1:k], found[0] / 2) / (k - mpf(1) / 2) for k in range(1, last)]
    assert all(near >= far - mpf(10) ** -40 for near, far in pairwise(sums))


@pytest.mark.parametrize("k", range(6))
def test_skellam_is_strictly_log_concave(k):
    """Every coefficient of I_k^2 - I_(k-1) I_(k+1) in x/2 is positive, as docs/envelope.md says."""

    def bessel(order):  # I_-1 is I_1
        return {
            abs(order) + 2 * j: Fraction(1, factorial(j) * factorial(abs(order) + j))
            for j in range(10)
        }

    def coefficient(one, other, power):
        return sum(one[i] * other.get(power - i, 0) for i in one if i <= power)

    for n in range(8):
        power = 2 * k + 2 * n
        found = coefficient(bessel(k), bessel(k), power)
        found -= coefficient(bessel(k - 1), bessel(k + 1), power)
        assert found == Fraction(comb(power, n), factorial(k + n) ** 2 * (k + n + 1)) > 0


@pytest.mark.parametrize("sigma2", ["0.25", "1", "4"])
def test_steps_tend_to_the_root_of_the_curvature(sigma2):
    """Lemma 3 of docs/envelope.md: by its proof the gap is of order log(k)/k^2."""
    root = 1 / float(Fraction(sigma2)) ** 0.5
    found = steps(oracles.discrete_gaussian(sigma2), 33, 60)
    gaps = [abs(float(found[k]) - root) for k in (8, 16, 32)]
    assert gaps[0] > gaps[1] > gaps[2] and gaps[2] < 8 * log(32) / 32**2


@pytest.mark.parametrize(("count", "sigma2"), SUMS)
def test_of_sums_it_is_the_largest_step(count, sigma2):
    last = 3 + int(4 * (count * float(Fraction(sigma2))) ** 0.5)
    table = summed(oracles.discrete_gaussian(sigma2), count, 4 * last)
    found = steps(lambda k: table[k], last, 4 * last)
    assert max(found) == found[0]
    mu = unit_parameter(DiscreteGaussianSum(count, sigma2))
    assert Fraction(mu.lower) <= oracles.exactly(found[0]) <= Fraction(mu.upper)
    assert mu.is_within(Fraction(1, 10))


@pytest.mark.parametrize(
    ("law", "limit"),
    [
        (Skellam(10**12), "1e-6"),
        (Skellam(10**15), "3.1622776601683793e-8"),
        (DiscreteGaussian(10**12), "1e-6"),
        (DiscreteGaussianSum(10**12, 1000), "3.1622776601683793e-8"),
    ],
)
def test_wide_noise_is_gaussian(law, limit):
    found = unit_parameter(law)
    assert Decimal(limit) <= found.lower and found.upper <= Decimal(limit) * (1 + Decimal("1e-11"))
    assert found.is_within(Fraction(1, 10**12))


@pytest.mark.parametrize(
    ("law", "why"),
    [
        (Binomial(100, "0.5"), "no first and no last"),
        (Polya(2, 3), "no first and no last"),
        (FiniteLaw({0: Fraction(1, 2), 1: Fraction(1, 2)}), "no first and no last"),
        (PolyaDifference("0.5", 3), "log-concave"),
    ],
)
def test_it_says_why_there_is_none(law, why):
    with pytest.raises(NoEnvelopeError, match=why):
        unit_parameter(law)


@pytest.mark.parametrize("count", [10**30, 10**45, 10**400])
def test_very_many_terms_are_bounded_by_a_narrow_gaussian(count):
    """Of 10^36 terms the search did not end, and 10^400 did not fit into a float."""
    law = DiscreteGaussianSum(count, "1/4")
    found = unit_parameter(law)
    assert 0 < found.upper < Decimal("1e-14")
    if count < 10**50:  # all but 1 over the deviation
        assert found.is_within(Fraction(1, 10**6))
        deviation = law.moments().variance.upper.sqrt()
        assert abs(found.upper * deviation - 1) < Decimal("1e-6")
