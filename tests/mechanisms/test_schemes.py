"""A scheme of sampling is one file: two toys, each a value with one method, against enumeration.

What is released is drawn by the toys' own words here (who is there, what is told), outcome by
outcome; nothing of `RandomRate` is used for the truths.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb

import brute_force
import mpmath
import oracles
import pytest
from mpmath import mpf
from subsets import together

from exactdp import ParameterError
from exactdp.accounting import compose
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteLaplace,
    FinitePair,
    Mechanism,
    Poisson,
    RandomizedResponse,
    RandomRate,
    Scheme,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.sampling.guaranteed import read_guarantee


@dataclass(frozen=True)
class InPairs:
    """Users take part two by two, each two of them with this probability.

    The other one's data tell whether the two are there, at worst: then the user is, or is not.
    """

    rate: Fraction

    def of(self, mechanism: Mechanism) -> Mechanism:
        return RandomRate(mechanism, ((self.rate, 1),))


@dataclass(frozen=True)
class OneOfTwo:
    """Poisson sampling at either of two rates, by a fair coin that everybody sees."""

    low: Fraction
    high: Fraction

    def of(self, mechanism: Mechanism) -> Mechanism:
        return RandomRate(mechanism, (("1/2", self.low), ("1/2", self.high)))


Q = Fraction(1, 4)
TOYS: list[Scheme] = [InPairs(Q), OneOfTwo(Fraction(1, 10), Fraction(1, 2))]
LEVEL, DELTA, WIDE = "0.1", "0.01", Fraction(1, 10**4)
TIMES = 2


def law_of(scheme, with_user, without):
    """What one use releases of the two datasets: ((what is told, outcome), mass), by its words."""
    first, second = {}, {}
    told = (
        [("both", Q, 1), ("neither", 1 - Q, 0)]
        if isinstance(scheme, InPairs)
        else [("low", Fraction(1, 2), scheme.low), ("high", Fraction(1, 2), scheme.high)]
    )
    for (name, weight, rate), x in product(told, with_user.keys() | without.keys()):
        p, q = with_user.get(x, mpf(0)), without.get(x, mpf(0))
        chance, w = oracles.real(Fraction(rate)), oracles.real(weight)
        first[name, x], second[name, x] = w * (chance * p + (1 - chance) * q), w * q
    merged = {}
    for key, p in first.items():  # outcomes of one ratio count as one
        ratio = mpmath.nstr(p / second[key], 25)
        others = merged.get(ratio, (mpf(0), mpf(0)))
        merged[ratio] = others[0] + p, others[1] + second[key]
    return sorted(merged.values(), reverse=True)[:64]  # what is left of them: 1e-14 or so


def shifted(pmf, shift, reach):
    return {x: pmf(x - shift) for x in range(-reach, reach + 1)}


def response(epsilon):
    keep = mpmath.exp(mpf(epsilon)) / (1 + mpmath.exp(mpf(epsilon)))
    return {0: keep, 1: 1 - keep}, {0: 1 - keep, 1: keep}


def modular(pmf, shift, modulus):
    found = dict.fromkeys(range(modulus), mpf(0))
    for x in range(-60, 61):
        found[(x + shift) % modulus] += pmf(x)
    return found


with mpmath.workdps(brute_force.DIGITS):
    _LAPLACE, _SKELLAM = oracles.discrete_laplace(1), oracles.skellam(1)
    BASES = {
        "response": (RandomizedResponse(1), *response(1)),
        "table": (
            FinitePair(("a", "b"), ("3/4", "1/4"), ("1/2", "1/2")),
            {0: mpf("0.75"), 1: mpf("0.25")}, {0: mpf("0.5"), 1: mpf("0.5")},
        ),
        "laplace": (
            AdditiveNoise(DiscreteLaplace(1)), shifted(_LAPLACE, 1, 60), shifted(_LAPLACE, 0, 60),
        ),
        "skellam": (
            AdditiveNoise(Skellam(1)), shifted(_SKELLAM, 1, 22), shifted(_SKELLAM, 0, 22),
        ),
        "reduced": (
            AdditiveNoise(Skellam(1), 1, 3), modular(_SKELLAM, 1, 3), modular(_SKELLAM, 0, 3),
        ),
    }  # fmt: skip


def holds(found, truth, slack="1e-16"):
    with mpmath.workdps(brute_force.DIGITS):
        lower, upper = (oracles.real(Fraction(end)) for end in (found.lower, found.upper))
        return lower - mpf(slack) <= truth <= upper + mpf(slack)


@pytest.mark.slow_cases("skellam-scheme1")
@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("scheme", TOYS)
@pytest.mark.parametrize("name", BASES)
def test_discrete_bases(name, scheme):
    base, with_user, without = BASES[name]
    composed = compose((scheme.of(base), TIMES))
    with mpmath.workdps(brute_force.DIGITS):
        one = law_of(scheme, with_user, without)
        removed = together(one, one)
        ways = (removed, [(q, p) for p, q in removed])
        delta = max(brute_force.delta(way, mpf(LEVEL)) for way in ways)
        epsilon = max(brute_force.epsilon(way, DELTA) for way in ways)
        renyi = max(TIMES * brute_force.renyi(way, 2) for way in (one, [(q, p) for p, q in one]))
        assert holds(composed.delta(LEVEL, WIDE), delta, "1e-9")
        assert holds(composed.epsilon(DELTA, WIDE), epsilon, "1e-6")
        assert holds(composed.renyi(2), renyi, "1e-12")
        assert composed.epsilon(DELTA, WIDE).upper < compose((base, TIMES)).epsilon(DELTA).upper


def gaussian_delta(mu, level):
    """Of N(mu, 1) against N(0, 1), mu >= 0, at any level."""
    if mu == 0:
        return max(mpf(0), 1 - mpmath.exp(level))
    return mpmath.ncdf(mu / 2 - level / mu) - mpmath.exp(level) * mpmath.ncdf(-mu / 2 - level / mu)


def in_pairs_truth(level, mu, times):
    """A binomial number of the uses has the user; the others tell nothing."""
    q = oracles.real(Q)
    return mpmath.fsum(
        comb(times, k) * q**k * (1 - q) ** (times - k) * gaussian_delta(mu * mpmath.sqrt(k), level)
        for k in range(times + 1)
    )


@pytest.mark.parametrize("times", [1, 5])
def test_continuous_bases(times):
    noise = ContinuousNoise(Shape.GAUSSIAN, 2)
    found = compose((TOYS[0].of(noise), times))
    with mpmath.workdps(30):
        truth = in_pairs_truth(mpf(LEVEL), mpf(1) / 2, times)
        assert holds(found.delta(LEVEL, WIDE), truth)

        def missed(level):
            return in_pairs_truth(level, mpf(1) / 2, times) - mpf(DELTA)

        at = mpmath.findroot(missed, (0.2, 2), "anderson")
        assert holds(found.epsilon(DELTA, WIDE), at)
        renyi = times * mpmath.log(1 - oracles.real(Q) * (1 - mpmath.exp(mpf(1) / 4)))
        assert holds(found.renyi(2), renyi)
        assert holds(found.zcdp(), mpf(times) / 8)
        assert found.delta(LEVEL, WIDE).is_within(Fraction(1, 100))


@pytest.mark.parametrize("name", ["response", "table", "reduced", "continuous"])
def test_a_rate_that_is_told_costs_no_less(name):
    """Not to tell it is post-processing: that leaves Poisson sampling at the rate on the whole."""
    base = BASES[name][0] if name in BASES else ContinuousNoise(Shape.GAUSSIAN, 1)
    told = RandomRate(base, (("0.3", "0.5"), ("0.7", "0.1")))
    untold, most = (compose((Poisson(rate).of(base), TIMES)) for rate in (told.rate, "0.5"))
    cost = compose((told, TIMES))
    for measure in (lambda one: one.delta("0.05", WIDE), lambda one: one.renyi(3)):
        assert measure(untold).lower <= measure(cost).upper
        assert measure(cost).lower <= measure(most).upper


def test_refused():
    with pytest.raises(ParameterError, match="weights must add up to at most 1"):
        RandomRate(RandomizedResponse(1), (("0.6", 1), ("0.6", "0.5")))
    with pytest.raises(ParameterError, match="mechanism must be"):
        TOYS[0].of(read_guarantee({"claim": "zcdp:0.1"}))
    with pytest.raises(ParameterError, match="nobody is sampled yet"):
        TOYS[0].of(TOYS[0].of(ContinuousNoise(Shape.GAUSSIAN, 2)).parts[0][1].at_rate(Q, True))
    with pytest.raises(ParameterError, match="poisson must be an exact number above 0"):
        RandomRate(RandomizedResponse(1), ((1, 0),))
