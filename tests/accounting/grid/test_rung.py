"""The coarse grid against sums over all outcomes, in fractions: never above, never below."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product as combinations
from math import prod

import composed_truth as truth
import continuous_truth
import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import Composition, Enclosure
from exactdp.accounting.composition.composed import compose
from exactdp.accounting.grid.rung import grid_delta, grid_epsilon
from exactdp.accounting.scenario import Scenario, scenarios
from exactdp.exact.errors import DoesNotApplyError
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.sampled import RandomRate
from exactdp.mechanisms.spec import parse

DELTAS = [Fraction(text) for text in ("0.5", "0.05", "1e-3", "1e-9", "1e-30")]
POINTS = [16, 128, 1024]
INFINITY = Decimal("Infinity")
Joint = list[tuple[Fraction, Fraction]]


def largest(composition: Composition, measure: Callable[[Scenario], Enclosure]) -> Enclosure:
    """As the answer is made of the scenarios."""
    found = [measure(scenario) for scenario in scenarios(composition.uses)]
    return found[0].maximum(found[-1])


def odds_at(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """e^epsilon between two fractions."""
    with mpmath.workdps(70):
        mantissa, exponent = mpmath.exp(truth.real(epsilon)).man_exp
    about, hair = int(mantissa) * Fraction(2) ** exponent, Fraction(epsilon != 0, 10**60)
    return about * (1 - hair), about * (1 + hair)


def joint(pairs: Sequence[FinitePair]) -> Joint:
    """All outcomes of these pairs together, under P and under Q."""
    rows = combinations(*(tuple(zip(pair.p, pair.q, strict=True)) for pair in pairs))
    return [(prod(p for p, _ in row), prod(q for _, q in row)) for row in rows]


def profile(outcomes: Joint, odds: Fraction) -> Fraction:
    return sum((max(p - odds * q, Fraction(0)) for p, q in outcomes), Fraction(0))


def random_pair(rng: random.Random) -> FinitePair:
    count = rng.choice((1, 2, 2, 3, 4, 6))
    columns = []
    for _ in range(2):
        weights = [rng.choice((1, 2, 3, 10, 99, 10**6, 10**12)) for _ in range(count)]
        for k in range(count):
            if rng.random() < 0.1 and sum(weights) > weights[k]:
                weights[k] = 0  # so that losses are infinite, or P has no such outcome
        columns.append([Fraction(weight, sum(weights)) for weight in weights])
    return FinitePair(tuple(map(str, range(count))), *columns)


def assert_level_holds(found: Enclosure, delta: Fraction, ways: Sequence[Joint]) -> None:
    """The least level at which delta is at most this lies in it, by exact sums at both ends."""
    if found.lower == found.upper == INFINITY:
        assert max(sum(p for p, q in way if not q) for way in ways) > delta
        return
    lower = odds_at(Fraction(found.lower))[0]
    assert found.lower == 0 or max(profile(way, lower) for way in ways) >= delta
    if found.is_finite():
        upper = odds_at(Fraction(found.upper))[1]
        assert max(profile(way, upper) for way in ways) <= delta


@pytest.mark.parametrize("seed", range(25))
def test_random_pairs_by_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    pairs = [random_pair(rng) for _ in range(rng.choice((1, 1, 2)))]
    counts = [rng.choice((1, 2, 3)) if len(pairs) == 1 else rng.choice((1, 2)) for _ in pairs]
    every = [pair for pair, count in zip(pairs, counts, strict=True) for _ in range(count)]
    ways = [joint(every), joint([pair.swapped() for pair in every])]
    composition = compose(*zip(pairs, counts, strict=True))
    for points in rng.sample(POINTS, 2):
        for text in ("0", "0.01", "0.7", "3", "40"):
            level = Fraction(text)
            low, high = (
                max(profile(way, odds) for way in ways) for odds in reversed(odds_at(level))
            )
            found = largest(composition, partial(grid_delta, epsilon=level, points=points))
            assert found.lower <= high and low <= found.upper
        for delta in DELTAS:
            found = largest(composition, partial(grid_epsilon, delta=delta, points=points))
            assert_level_holds(found, delta, ways)


# -- noise, against sums at high precision --------------------------------------------------------


def assert_both(
    composition: Composition,
    delta_at: Callable[[Fraction], mpf],
    levels: Sequence[str],
    points: int,
    width: float,
) -> None:
    """Both quantities, at these levels, hold the truth and are no wider than this, relatively."""
    for text in levels:
        level = Fraction(text)
        found = largest(composition, lambda uses, at=level: grid_delta(uses, at, points))
        true = delta_at(level)
        oracles.assert_holds(found, true, width)
        delta = oracles.exactly(true)
        found = largest(composition, lambda uses, at=delta: grid_epsilon(uses, at, points))
        assert Fraction(found.lower) <= level * (1 + Fraction(1, 10**40))
        assert level * (1 - Fraction(1, 10**40)) <= Fraction(found.upper)
        assert Fraction(found.upper) - Fraction(found.lower) <= level * Fraction(width)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_discrete_gaussian(times: int) -> None:
    law = truth.gaussian_losses(Fraction(30), 2).power(times)
    what = compose((AdditiveNoise(DiscreteGaussian(30), 2), times))
    scale = Fraction(times * 4, 30)  # the variance of the loss
    deviation = Fraction(round(float(scale) ** 0.5 * 1000), 1000)
    levels = [str(scale / 2 + far * deviation) for far in (1, 3, 9)]
    assert_both(what, law.delta, levels, 1024, 0.02)


@pytest.mark.parametrize("times", [2, 100, 10**5])
def test_randomized_response(times: int) -> None:
    epsilon = Fraction(1, 30)
    deviation = Fraction(round(times**0.5 * 1000), 1000) * epsilon
    levels = [str(times * epsilon**2 / 2 + far * deviation) for far in (Fraction(1, 2), 1)]
    what = compose((RandomizedResponse(epsilon), times))
    assert_both(what, lambda at: truth.two_point_delta(epsilon, times, at), levels, 2048, 0.02)


def test_laplace_and_response_mixed() -> None:
    laplace = truth.laplace_losses(Fraction(10), 3).power(20)
    gaussian = truth.gaussian_losses(Fraction(10), 1).power(5)
    both = laplace.plus(gaussian)
    what = compose(
        (AdditiveNoise(DiscreteLaplace(10), 3), 20), (AdditiveNoise(DiscreteGaussian(10), 1), 5)
    )
    assert_both(what, both.delta, ["0.5", "2", "4"], 1024, 0.01)


@pytest.mark.parametrize("modulus", [None, 20])
def test_two_skellams(modulus: int | None) -> None:
    pmf = oracles.skellam(4)
    one = truth.of_shift(pmf, 1, -60, 60) if modulus is None else truth.wrapped(pmf, 1, modulus, 80)
    what = compose((AdditiveNoise(Skellam(4), 1, modulus), 2))
    assert_both(what, lambda at: truth.outcomes_delta(one, one, at), ["0.7", "2"], 1024, 0.01)


def test_choices_at_every_use_are_dominated() -> None:
    """Asymmetric noise: the way round may be chosen on seeing what was released before."""
    law, times = Binomial(3, "1/3"), 3
    menu = [pair for shift in (1, 2) for pair in AdditiveNoise(law, shift).pairs()]

    def played(count: int, odds: Fraction) -> Fraction:
        if not count:
            return max(1 - odds, Fraction(0))
        return max(
            sum(
                p * played(count - 1, odds * q / p)
                for p, q in zip(pair.p, pair.q, strict=True)
                if p
            )
            for pair in menu
        )

    what = compose((AdditiveNoise(law, 2), times))
    for text in ("0", "0.5", "2"):
        low, high = (played(times, odds) for odds in reversed(odds_at(Fraction(text))))
        found = largest(what, lambda uses, at=Fraction(text): grid_delta(uses, at, 512))
        assert found.lower <= high and low <= found.upper < 1


@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize("rate", ["1/100", "1/2", "1"])
def test_sampled_gaussian(removing: bool, rate: str) -> None:
    noise = ContinuousNoise(Shape.GAUSSIAN, Fraction(2), Fraction(1), "add-remove", rate, removing)
    q, level = truth.real(rate), mpf("0.25")
    with mpmath.workdps(25):
        if q == 1:  # two uses are one of noise 2/sqrt(2)
            true = continuous_truth.closed(q, mpmath.sqrt(2), level, True)
        else:
            true = continuous_truth.two_gaussians(q, mpf(2), level, removing)
    (uses, *_) = scenarios(compose((noise, 2)).uses)
    for points, width in ((64, 1e6), (1024, 2)):
        found = grid_delta(uses, Fraction(1, 4), points)
        oracles.assert_holds(found, true, width)


@pytest.mark.parametrize("rate", ["1/10", "1"])
def test_laplace_is_sampled_like_its_outcomes(rate: str) -> None:
    """One use has a closed form: the mixture's profile from that of the noise."""
    epsilon, level, q = Fraction(1), Fraction(1, 20), Fraction(rate)
    noise = ContinuousNoise(Shape.LAPLACE, 1 / epsilon, Fraction(1), "add-remove", q)
    with mpmath.workdps(40):
        odds = 1 + mpmath.expm1(truth.real(level)) / truth.real(q)
        true = truth.real(q) * (1 - mpmath.exp((mpmath.log(odds) - 1) / 2))
    (uses, *_) = scenarios(compose(noise).uses)
    oracles.assert_holds(grid_delta(uses, level, 1024), true, 0.01)


# References, within one unit of the last digit, by quadrature and inversion, made apart.
@pytest.mark.parametrize(
    ("rate", "sigma", "times", "delta", "epsilon"),
    [
        ("1/100", "1", 1000, "1e-5", "1.8282367"),
        ("1/100", "1", 1000, "1e-10", "3.2904438"),
        ("0.00033", "4", 10000, "1.13e-18", "0.0672"),
    ],
)
def test_many_sampled_uses(rate: str, sigma: str, times: int, delta: str, epsilon: str) -> None:
    noise = ContinuousNoise(Shape.GAUSSIAN, sigma, 1, "add-remove", rate)
    what = compose((noise, times))
    found = largest(what, lambda uses: grid_epsilon(uses, Fraction(delta), 1024))
    unit = Fraction(10) ** -len(epsilon.partition(".")[2])
    assert found.lower <= Fraction(epsilon) + unit and Fraction(epsilon) - unit <= found.upper
    assert found.is_within(Fraction(1, 50))


@pytest.mark.parametrize(
    ("law", "sensitivity", "times", "delta", "epsilon"),
    [  # each to within one unit of its last digit
        (Skellam(100), 1, 20, "1e-6", "1.9920265"),
        (Skellam(100), 1, 1000, "1e-5", "17.8558725"),
        (Skellam(10000), 100, 300, "1e-6", "231.4453"),
    ],
)
def test_many_skellams(
    law: Skellam, sensitivity: int, times: int, delta: str, epsilon: str
) -> None:
    what = compose((AdditiveNoise(law, sensitivity), times))
    found = largest(what, lambda uses: grid_epsilon(uses, Fraction(delta), 1024))
    unit = Fraction(10) ** -len(epsilon.partition(".")[2])
    assert found.lower <= Fraction(epsilon) + unit and Fraction(epsilon) - unit <= found.upper
    assert found.is_within(Fraction(1, 1000))


def test_slack_is_charged() -> None:
    pair = FinitePair(("a", "b"), ("0.7", "0.3"), ("0.3", "0.7"), slack="0.01")
    inside = FinitePair(("a", "b"), ("0.71", "0.29"), ("0.29", "0.71"))
    outside = FinitePair(("a", "b"), ("0.69", "0.31"), ("0.31", "0.69"))
    (odds, _) = odds_at(Fraction(1, 2))
    (uses,) = {scenarios(compose((pair, 2)).uses)[0]}
    found = grid_delta(uses, Fraction(1, 2), 256)
    assert found.upper >= profile(joint([inside, inside]), odds)
    assert found.lower <= profile(joint([outside, outside]), odds)


def test_what_it_does_not_cover_it_says() -> None:
    allocated = parse("gaussian:sigma=0.01,allocation=1/10,neighbours=add-remove").mechanism
    with pytest.raises(DoesNotApplyError):
        grid_epsilon(scenarios(compose(allocated).uses)[0], Fraction(1, 100), 64)
    wide = RandomRate(AdditiveNoise(Skellam(10**9), 1), [("1/2", "1/10")])
    with pytest.raises(DoesNotApplyError):
        grid_delta(scenarios(compose((wide, 2)).uses)[0], Fraction(1), 64)
