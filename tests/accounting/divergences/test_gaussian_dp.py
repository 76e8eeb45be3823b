"""mu of Gaussian DP against the trade-off function itself, worked out in mpmath."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import Enclosure, ParameterError
from exactdp.accounting import compose
from exactdp.accounting.composition.divergence import gaussian_dp
from exactdp.accounting.divergences.gaussian_dp import _Event, _inside, separation
from exactdp.exact import ball, working_precision
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FinitePair,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.spec import parse

Masses = Sequence[tuple[mpf, mpf]]


def z(p: mpf, rest: mpf) -> mpf:
    """Phi^-1(p), where rest = 1 - p: by bisection of the normal law, not by an inverse."""
    if p > rest:
        return -z(rest, p)
    return mpmath.findroot(
        lambda x: mpmath.log(mpmath.ncdf(x) / p), (-mpmath.sqrt(-2 * mpmath.log(p)), mpf(0))
    )


def largest_separation(pairs: Masses) -> mpf:
    """Over all half-lines in the order of the likelihood ratio; finite P and Q with one support."""
    order = sorted(pairs, key=lambda pair: -pair[0] / pair[1])
    best, p, q = mpf(0), mpf(0), mpf(0)
    for index, (more_p, more_q) in enumerate(order[:-1]):
        p, q = p + more_p, q + more_q
        rest_p, rest_q = (mpmath.fsum(pair[side] for pair in order[index + 1 :]) for side in (0, 1))
        best = max(best, z(p, rest_p) - z(q, rest_q))
    return best


def shifted(pmf: oracles.Pmf, shift: int, reach: int) -> mpf:
    """Over the half-lines of a symmetric law and its shift that have masses above 1e-15."""
    tails = {}
    total = mpf(0)
    for t in range(reach, -reach - 1, -1):
        total += pmf(t)
        tails[t] = total
    best = mpf(0)
    for t in range(shift - reach, reach):
        p, q = tails[t - shift], tails[t]
        if q > mpf(10) ** -15 and 1 - p > mpf(10) ** -15:
            best = max(best, z(p, 1 - p) - z(q, 1 - q))
    return best


def response(epsilon: str) -> Masses:
    odds = mpmath.exp(mpf(epsilon))
    return [(odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))]


def times(pairs: Masses, count: int) -> Masses:
    """The product, merged by how often the first of two outcomes was seen."""
    (p0, q0), (p1, q1) = pairs
    return [
        tuple(math.comb(count, k) * a ** (count - k) * b**k for a, b in ((p0, p1), (q0, q1)))  # type: ignore[misc]
        for k in range(count + 1)
    ]


def holds(found: Enclosure, truth: mpf) -> None:
    value = oracles.exactly(truth)
    assert found.lower <= value * (1 + Fraction(1, 10**18)), (str(found), truth)
    assert found.upper >= value * (1 - Fraction(1, 10**18)), (str(found), truth)


@pytest.fixture(autouse=True)
def digits() -> Iterable[None]:
    with mpmath.workdps(40):
        yield


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("shift", [1, 2, 3, 6])
@pytest.mark.parametrize(
    ("law", "pmf"),
    [
        (DiscreteGaussian("1/4"), oracles.discrete_gaussian("1/4")),
        (DiscreteGaussian(9), oracles.discrete_gaussian(9)),
        (Skellam("1/2"), oracles.skellam("1/2")),
        (Skellam(9), oracles.skellam(9)),
        (DiscreteLaplace(1), oracles.discrete_laplace(1)),
    ],
)
def test_shifted_noise(law: object, pmf: oracles.Pmf, shift: int) -> None:
    truth = shifted(pmf, shift, 60 if law != DiscreteLaplace(1) else 90)
    oracles.assert_holds(gaussian_dp(AdditiveNoise(law, shift)), truth)  # type: ignore[arg-type]


def test_random_tables() -> None:
    rng = random.Random(5)
    for _ in range(30):
        count = rng.choice((2, 3, 5))
        p, q = ([rng.choice((1, 2, 3, 50, 10**6)) for _ in range(count)] for _ in range(2))
        columns = [[Fraction(weight, sum(column)) for weight in column] for column in (p, q)]
        pair = FinitePair([f"x{i}" for i in range(count)], *columns)
        real = [tuple(map(oracles.real, masses)) for masses in zip(*columns, strict=True)]
        truth = largest_separation(real)
        if columns[0] == columns[1]:
            assert gaussian_dp(pair) == Enclosure.exactly(0)
        else:
            oracles.assert_holds(gaussian_dp(pair), truth)
            assert gaussian_dp(pair.swapped()) == gaussian_dp(pair)


@pytest.mark.parametrize(("modulus", "shift"), [(2, 1), (5, 2), (8, 4), (11, 30)])
def test_reduced_noise(modulus: int, shift: int) -> None:
    pmf = oracles.skellam(3)
    wrapped = [
        mpmath.fsum(pmf(c + modulus * k) for k in range(-60 // modulus, 60 // modulus + 1))
        for c in range(modulus)
    ]
    truth = max(
        largest_separation([(wrapped[c], wrapped[c - d]) for c in range(modulus)])
        for d in range(1, min(shift, modulus // 2) + 1)
    )
    oracles.assert_holds(gaussian_dp(AdditiveNoise(Skellam(3), shift, modulus)), truth, 1e-10)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.4", "3", "40"])
def test_randomized_response_and_what_is_no_less_private(epsilon: str) -> None:
    found = gaussian_dp(RandomizedResponse(epsilon))
    truth = largest_separation(response(epsilon))
    oracles.assert_holds(found, truth)
    oracles.assert_holds(
        gaussian_dp(AdditiveNoise(DiscreteLaplace(1 / Fraction(epsilon)), 1)), truth
    )


def test_sampled_discrete_laplace() -> None:
    mixed = [(mpf("0.1") * p + mpf("0.9") * q, q) for p, q in response("1")]
    found = gaussian_dp(
        parse("discrete-laplace:epsilon=1,neighbours=add-remove,poisson=0.1").mechanism
    )
    oracles.assert_holds(found, largest_separation(mixed))


@pytest.mark.parametrize("epsilon", ["0.01", "1", "20"])
def test_continuous_laplace(epsilon: str) -> None:
    e = mpf(epsilon)

    def tail(x: mpf) -> mpf:
        return mpmath.exp(-x) / 2 if x >= 0 else 1 - mpmath.exp(x) / 2

    windows = [e / 2 + e * k / 50 for k in range(-30, 30)] + [e + k for k in range(8)]
    truth = max(z(tail(x - e), tail(e - x)) - z(tail(x), tail(-x)) for x in windows)
    oracles.assert_holds(
        gaussian_dp(parse(f"laplace:scale=1,sensitivity={epsilon}").mechanism), truth
    )


@pytest.mark.parametrize(
    "spec",
    [
        "binomial:trials=20,probability=1/2",
        "randomized-response:epsilon=1,delta=1e-9",
        "randomized-response:epsilon=1,delta=1e-9,neighbours=add-remove,poisson=1/100",
        "binomial:trials=20,probability=1/2,neighbours=add-remove,poisson=1/100",
    ],
)
def test_what_one_law_alone_can_say_has_no_mu(spec: str) -> None:
    assert gaussian_dp(parse(spec).mechanism) == Enclosure.infinite()
    assert compose((parse(spec).mechanism, 3)).gdp() == Enclosure.infinite()


def test_with_slack_nothing_bounds_it_from_above() -> None:
    pair = FinitePair(["a", "b"], ["0.6", "0.4"], ["0.4", "0.6"], slack="0.01")
    found = gaussian_dp(pair)
    assert found.upper == math.inf and 0 < found.lower < Fraction("0.5067")
    same = FinitePair(["a", "b"], ["0.5", "0.5"], ["0.5", "0.5"], slack="0.01")
    assert gaussian_dp(same).lower == 0


def test_gaussian_noise_is_exact() -> None:
    one, other = (parse(f"gaussian:sigma={sigma}").mechanism for sigma in ("5/3", "5/4"))
    assert compose(one, other).gdp() == Enclosure.exactly(1)
    assert compose((one, 25)).gdp() == Enclosure.exactly(3)
    root = mpmath.sqrt(mpf(9) / 25 + 2 * mpf(16) / 25)
    oracles.assert_holds(compose(one, (other, 2)).gdp(), root)


@pytest.mark.parametrize(
    "sampling",
    [
        "neighbours=add-remove,poisson=1/1000",
        "fixed-size=1/1000",
        "neighbours=add-remove,allocation=1/9",
    ],
)
def test_sampling_hides_nothing_of_a_gaussian_from_rare_tests(sampling: str) -> None:
    found = compose((parse(f"gaussian:sigma=2,{sampling}").mechanism, 4)).gdp()
    assert found.contains(1) and found.is_within(Fraction(1, 10**9))


@pytest.mark.parametrize(("epsilon", "count"), [("0.3", 2), ("0.1", 30), ("2", 5)])
def test_several_uses_of_randomized_response(epsilon: str, count: int) -> None:
    found = compose((RandomizedResponse(epsilon), count)).gdp()
    truth = largest_separation(times(response(epsilon), count))
    holds(found, truth)
    assert found.is_within(Fraction(1, 4))


def test_several_uses_of_discrete_gaussians() -> None:
    found = compose((AdditiveNoise(DiscreteGaussian(9), 2), 5)).gdp()
    # their sum tells as much as all of them: N_Z(0, 45) but for e^(-2 pi^2 9), moved by 10
    holds(found, shifted(oracles.discrete_gaussian(45), 10, 75))
    assert found.is_within(Fraction(1, 100))


@pytest.mark.parametrize(
    "spec",
    [
        "discrete-laplace:epsilon=1,modulus=9",
        "laplace:scale=1,neighbours=add-remove,poisson=1/2",
    ],
)
def test_what_is_known_from_two_sides(spec: str) -> None:
    """Total variation from below; no more than the mechanism's pure epsilon allows."""
    one = parse(spec).mechanism
    found, distance, pure = gaussian_dp(one), compose(one).delta(0), compose(one).pure()
    odds = mpmath.exp(oracles.real(Fraction(pure.upper)))
    least = mpf(8) ** 0.5 * mpmath.erfinv(oracles.real(Fraction(distance.lower)))
    assert oracles.exactly(least) * (1 - Fraction(1, 10**9)) <= found.upper
    most = 2 * z(odds / (1 + odds), 1 / (1 + odds))
    assert Fraction(found.lower) <= oracles.exactly(most)
    assert found.is_within(Fraction(1, 100))


@pytest.mark.slow
def test_no_envelope_no_upper_end() -> None:
    found = gaussian_dp(AdditiveNoise(DiscreteGaussianSum(3, "1/4"), 2))
    holds(found, shifted(_sum_of_three(), 2, 8))


def _sum_of_three() -> oracles.Pmf:
    table = oracles.convolution(oracles.discrete_gaussian("1/4"), 3, 8)
    return lambda x: table.get(x, mpf(0))


def test_neighbours_must_agree() -> None:
    mixed = ["gaussian:sigma=1,neighbours=add-remove", "gaussian:sigma=1"]
    with pytest.raises(ParameterError, match="neighbours must be the same"):
        compose(*(parse(spec).mechanism for spec in mixed)).gdp()


@pytest.mark.slow
def test_log_convex_noise() -> None:
    """Its events are intervals: by the order of the ratios, out to where masses are below 1e-25."""
    pmf = oracles.polya_difference("1/2", 1)
    truth = largest_separation([(pmf(x), pmf(x - 1)) for x in range(-55, 57)])
    holds(gaussian_dp(AdditiveNoise(PolyaDifference("1/2", 1), 1)), truth)


@pytest.mark.parametrize(
    ("before", "masses"),
    [
        (("1/20", "1/100"), ((4, 15), (20, 4), (3, 5))),
        (("1/5", "3/20"), ((4, 15), (20, 4), (3, 5))),
        (("29/100", "3/50"), ((27, 9), (3, 25))),
    ],
)
def test_no_event_between_two_separates_more_than_is_said(before, masses):
    """Outcomes whose order is open: any of them may come first."""
    inner = [(Fraction(p, 100), Fraction(q, 100)) for p, q in masses]
    p, q = map(Fraction, before)
    whole_p, whole_q = (sum(each) for each in zip(*inner, strict=True))

    def event(more_p, more_q):
        values = (p + more_p, 1 - p - more_p, q + more_q, 1 - q - more_q)
        return _Event(*map(ball, values))

    with working_precision(128):
        low, high = (ball(pick(a / b for a, b in inner)) for pick in (min, max))
        most = _inside(event(0, 0), event(whole_p, whole_q), low, high, ball(whole_q))
        ends = [separation(*event(*each)) for each in ((0, 0), (whole_p, whole_q))]
        for size in range(len(inner) + 1):
            for chosen in combinations(inner, size):
                found = separation(*event(sum(a for a, _ in chosen), sum(b for _, b in chosen)))
                assert not (found > most and found > ends[0] and found > ends[1])
