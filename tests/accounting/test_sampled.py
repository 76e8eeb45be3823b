"""Poisson-sampled discrete mechanisms against sums over all subsets of a small dataset."""

from fractions import Fraction

import brute_force
import mpmath
import oracles
import pytest
from mpmath import mpf
from subsets import neighbours, poisson, released, together

from exactdp import Enclosure, ParameterError
from exactdp.accounting import compose
from exactdp.accounting.losses.sums import composed_delta
from exactdp.accounting.scenario import scenarios
from exactdp.exact.precision import CAP
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    PolyaDifference,
    RandomizedResponse,
    Sampled,
    Skellam,
)

RATE, ORDERS, LEVEL, DELTA = Fraction(3, 10), ("1.25", "2", "7"), "0.1", "1e-3"
WIDE = Fraction(1, 10**5)
OTHERS = [(0, 0, 0, 0, 0), (2, -1, 1, -2, 2), (-2, 1)]  # up to six users
MOVES = (2, -2, 1)  # what the user who may be there adds


def noise(pmf, reach, modulus=None):
    """The law of the released outcomes up to +-reach, beyond which there is next to nothing."""
    table = {x: pmf(x) for x in range(-reach - 12, reach + 13)}

    def response(value):
        if modulus is None:
            return {x: table[x - value] for x in range(-reach, reach + 1)}
        found = dict.fromkeys(range(modulus), mpf(0))
        for x, mass in table.items():
            found[(x + value) % modulus] += mass
        return found

    return response


def flipped(epsilon):
    keep = mpmath.exp(mpf(epsilon)) / (1 + mpmath.exp(mpf(epsilon)))
    return lambda bit: {bit: keep, 1 - bit: 1 - keep}


with mpmath.workdps(brute_force.DIGITS):
    ADDITIVE = {
        "discrete Laplace": (DiscreteLaplace(1), None, noise(oracles.discrete_laplace(1), 50)),
        "the same mod 7": (DiscreteLaplace(1), 7, noise(oracles.discrete_laplace(1), 50, 7)),
        "discrete Gaussian": (DiscreteGaussian(1), None, noise(oracles.discrete_gaussian(1), 28)),
        "Skellam": (Skellam(1), None, noise(oracles.skellam(1), 40)),
        "Skellam mod 5": (Skellam(1), 5, noise(oracles.skellam(1), 26, 5)),
        "binomial": (
            Binomial(5, Fraction(1, 3)), None, noise(oracles.binomial(5, Fraction(1, 3)), 5),
        ),
    }  # fmt: skip


def dearest(pair, measure):
    """Of both ways round."""
    return max(measure(pair), measure([(q, p) for p, q in pair]))


def laws(others, moved, query, response):
    """The laws with and without one more user."""
    with mpmath.workdps(brute_force.DIGITS):
        rate = oracles.real(RATE)
        return [
            released(poisson(users, rate), query, response) for users in ((*others, moved), others)
        ]


def is_bound(found, truth, attained=False):
    """Is the truth, known to 18 digits, at most what was found; and no less, where it is met?"""
    if truth == mpmath.inf or found.upper == Enclosure.infinite().upper:
        assert not found.is_finite()
        return
    slack = mpf(10) ** -18
    assert truth <= oracles.real(Fraction(found.upper)) * (1 + slack) + slack, (found, truth)
    if attained:
        assert oracles.real(Fraction(found.lower)) <= truth * (1 + slack) + slack, (found, truth)


def check(mechanism, pairs, times=1):
    """Every quantity bounds all pairs (each of one use), and the first of them attains it."""
    composed = compose((mechanism, times))
    all_uses = [pair if times == 1 else together(pair, pair) for pair in pairs]
    with mpmath.workdps(brute_force.DIGITS):
        level = mpf(LEVEL)
        for found, measure in (
            (composed.delta(LEVEL, WIDE), lambda pair: brute_force.delta(pair, level)),
            (composed.epsilon(DELTA, WIDE), lambda pair: brute_force.epsilon(pair, DELTA)),
        ):
            for number, pair in enumerate(all_uses):
                is_bound(found, dearest(pair, measure), attained=number == 0)
        adding_up = [
            (value, lambda pair, order=order: _renyi(pair, order))
            for order, value in zip(ORDERS, composed.renyi_curve(ORDERS), strict=True)
        ]
        if composed.pure().is_finite():
            adding_up.append((composed.pure(), brute_force.pure))
        for found, measure in adding_up:
            for number, pair in enumerate(pairs):
                is_bound(found, times * dearest(pair, measure), attained=number == 0)


def _renyi(pair, order):
    return mpmath.inf if any(p and not q for p, q in pair) else brute_force.renyi(pair, order)


@pytest.mark.slow_cases("Skellam", "discrete Gaussian", "discrete Laplace")
@pytest.mark.parametrize("name", ADDITIVE)
def test_one_use_holds_the_sum_over_all_subsets(name):
    law, modulus, response = ADDITIVE[name]
    mechanism = Sampled(AdditiveNoise(law, 2, modulus), RATE)
    moves = [(others, moved) for others in OTHERS for moved in MOVES]
    pairs = [neighbours(*laws(*move, sum, response)) for move in moves]
    alone = [neighbours(*laws((), moved, sum, response)) for moved in (2, -2, 1, -1)]
    if law.symmetric and modulus is None:
        check(mechanism, alone + pairs)
    else:  # which move is the worst depends on what is asked
        check_largest(mechanism, alone, pairs)


def check_largest(mechanism, candidates, pairs):
    """As `check`, where one of the candidates attains it."""
    composed = compose(mechanism)
    with mpmath.workdps(brute_force.DIGITS):
        level = mpf(LEVEL)
        for found, measure in (
            (composed.delta(LEVEL), lambda pair: brute_force.delta(pair, level)),
            (composed.epsilon(DELTA), lambda pair: brute_force.epsilon(pair, DELTA)),
            (composed.renyi("1.25"), lambda pair: _renyi(pair, "1.25")),
        ):
            is_bound(found, max(dearest(pair, measure) for pair in candidates), attained=True)
            for pair in pairs:
                is_bound(found, dearest(pair, measure))


@pytest.mark.parametrize("others", [(), (0,), (1, 0, 1, 1, 0)])
def test_randomized_response_about_any_bit_of_the_users(others):
    with mpmath.workdps(brute_force.DIGITS):
        response = flipped("0.7")
        alone = neighbours(*laws((), 1, lambda batch: len(batch) % 2, response))
        queries = [
            lambda batch: sum(batch) % 2,
            lambda batch: int(len(batch) > 2),
            lambda batch: int(1 in batch),
        ]
        pairs = [alone] + [neighbours(*laws(others, 1, query, response)) for query in queries]
        mechanism = Sampled(RandomizedResponse("0.7"), RATE)
        check(mechanism, pairs)
        check(mechanism, pairs, times=2)


@pytest.mark.quick_cases(1)
@pytest.mark.slow_cases("Skellam")
@pytest.mark.parametrize("name", ["discrete Laplace", "discrete Gaussian", "Skellam"])
def test_two_uses_hold_the_product_of_both(name):
    law, _, _ = ADDITIVE[name]
    pmf = {"discrete Laplace": oracles.discrete_laplace, "Skellam": oracles.skellam}
    reach = 46 if name == "discrete Laplace" else 24
    with mpmath.workdps(brute_force.DIGITS):
        response = noise(pmf.get(name, oracles.discrete_gaussian)(1), reach)
    pairs = [
        neighbours(*laws(others, moved, sum, response)) for others, moved in (((), 1), ((1, -1), 1))
    ]
    mechanism = Sampled(AdditiveNoise(law), RATE)
    check(mechanism, pairs, times=2)


def test_the_way_round_that_is_the_worst_for_one_use_is_not_for_two():
    """Removing is dearer in one use at every epsilon, adding in two uses at a small one."""
    level = Fraction(1, 20)
    with mpmath.workdps(brute_force.DIGITS):
        one = neighbours(*laws((), 1, lambda batch: len(batch) % 2, flipped(1)))
        for times, pair in ((1, one), (2, together(one, one))):
            uses = compose((Sampled(RandomizedResponse(1), RATE), times)).uses
            remove, add = (composed_delta(way, level, WIDE, CAP) for way in scenarios(uses))
            is_bound(remove, brute_force.delta(pair, oracles.real(level)), attained=True)
            swapped = [(q, p) for p, q in pair]
            is_bound(add, brute_force.delta(swapped, oracles.real(level)), attained=True)
            dearer, other = (remove, add) if times == 1 else (add, remove)
            assert dearer.at_least(other.upper) is True


def test_a_user_who_is_sampled_once_and_always_there_the_other_time():
    """A list of two rates: the pair is a product of two mixtures, the same way round."""
    with mpmath.workdps(brute_force.DIGITS):
        response = noise(oracles.discrete_laplace(1), 46)
        sampled = neighbours(*laws((1,), 1, sum, response))
        always = neighbours(response(2), response(1))
        pair = together(sampled, always)
        plain = AdditiveNoise(DiscreteLaplace(1))
        both = compose(Sampled(plain, RATE), Sampled(plain))
        level = mpf(LEVEL)
        least = max(
            brute_force.delta(pair, level), brute_force.delta([(q, p) for p, q in pair], level)
        )
        is_bound(both.delta(LEVEL), least)


def test_a_table_mixes_its_columns():
    table = FinitePair(["a", "b", "c"], ["0.5", "0.3", "0.2"], ["0.1", "0.3", "0.6"])
    mechanism = Sampled(table, "1/4")
    both = [(p / 4 + 3 * q / 4, q) for p, q in zip(table.p, table.q, strict=True)]
    largest = max(max(m / q, q / m) for m, q in both)
    with mpmath.workdps(40):
        is_bound(compose(mechanism).pure(), mpmath.log(oracles.real(largest)), attained=True)
    assert compose(mechanism).delta(0).contains(sum(max(m - q, 0) for m, q in both))


@pytest.mark.parametrize(
    "plain",
    [
        AdditiveNoise(Skellam(3), 2),
        AdditiveNoise(DiscreteGaussian(2), 1, 9),
        RandomizedResponse("0.4", "0.01"),
        FinitePair(["a", "b"], ["0.5", "0.5"], ["0.1", "0.9"]),
    ],
)
def test_nobody_sampled_is_the_mechanism_itself(plain):
    once, same = compose(plain), compose(Sampled(plain))
    assert once.pure() == same.pure()
    assert once.delta(LEVEL) == same.delta(LEVEL)
    assert once.renyi(2) == same.renyi(2)


def test_rho_of_gaussian_noise_does_not_feel_the_sampling():
    found = compose(Sampled(AdditiveNoise(DiscreteGaussian(4)), "0.01")).zcdp()
    assert found == Enclosure.exactly(Fraction(1, 8))


@pytest.mark.parametrize(
    "law",
    [
        Skellam(2),
        pytest.param(PolyaDifference("0.5", 2), marks=pytest.mark.slow),
    ],
)
def test_rho_is_above_all_orders_and_below_no_sampling(law):
    plain = AdditiveNoise(law)
    found = compose(Sampled(plain, RATE)).zcdp(WIDE)
    assert compose(plain).zcdp(WIDE).at_least(found.lower) is True
    for order in (Fraction(11, 10), 2, 5, 17, 60):
        least = compose(Sampled(plain, RATE)).renyi(order, WIDE).lower
        assert Fraction(least) / order <= Fraction(found.upper)
    assert found.is_within(Fraction(1, 10**3))


def test_ways_round_that_differ_from_use_to_use_are_kept():
    one, other = Sampled(RandomizedResponse(1), RATE), Sampled(RandomizedResponse(2), RATE)
    same, turned = compose(one, other).pure(), compose(one, other.reversed()).pure()
    with mpmath.workdps(40):
        q = oracles.real(RATE)
        remove = [mpmath.log(1 + q * (mpmath.exp(e) - 1)) for e in (1, 2)]
        add = [-mpmath.log(1 - q * (1 - mpmath.exp(-e))) for e in (1, 2)]
        is_bound(same, sum(remove), attained=True)
        is_bound(turned, max(remove[0] + add[1], add[0] + remove[1]), attained=True)


def test_what_has_no_user_is_not_sampled():
    with pytest.raises(ParameterError, match="mechanism"):
        Sampled(Sampled(RandomizedResponse(1)), RATE)
    with pytest.raises(ParameterError, match="poisson"):
        Sampled(RandomizedResponse(1), 0)
