"""The checker's divergences of one use beside sums at 60 digits: both ends, whatever the use."""

from fractions import Fraction
from functools import cache

import brute_force
import mpmath
import oracles
import pytest

from exactdp.verify.checker import divergences, laws
from exactdp.verify.checker.arithmetic import precision
from exactdp.verify.checker.binomial import Binomial
from exactdp.verify.checker.mechanisms import Additive, FixedSize, Sampled, TwoLaws

_LAWS = {
    "laplace": (laws.DiscreteLaplace(Fraction(2)), oracles.discrete_laplace(2), 300),
    "gaussian": (laws.DiscreteGaussian(Fraction(3)), oracles.discrete_gaussian(3), 60),
    "skellam": (laws.Skellam(Fraction(3)), cache(oracles.skellam(3)), 90),
    "polya": (
        laws.PolyaDifference(Fraction(1, 2), Fraction(2)),
        cache(oracles.polya_difference("1/2", 2)),
        300,
    ),
    "binomial": (Binomial(20, Fraction(3, 10)), cache(oracles.binomial(20, "3/10")), 30),
}
_ORDERS = (Fraction(3, 2), Fraction(2), Fraction(13, 3))
_LEVELS = (Fraction(0), Fraction(1, 3), Fraction(1))


def _pairs(name, shift, modulus):
    """The listed pairs of which the worst counts, both ways round where that matters."""
    _, pmf, reach = _LAWS[name]
    if modulus is None:
        one = brute_force.shifted(pmf, shift, reach)
        found = [one]
    else:
        found = [brute_force.wrapped(pmf, d, modulus, reach) for d in range(1, shift + 1)]
    return found + [[(q, p) for p, q in one] for one in found]


def _mixed(pairs, rate, removing):
    r = oracles.real(rate)
    mixed = [[((1 - r) * q + r * p, q) for p, q in one] for one in pairs]
    return mixed if removing else [[(q, p) for p, q in one] for one in mixed]


def _both_ways(one):
    """Of a batch of fixed size: the losses above 0 of the mixture, and their negatives."""
    dear = [(p, q) for p, q in one if p > q]
    left = 1 - mpmath.fsum(p + q for p, q in dear)
    return [*dear, *((q, p) for p, q in dear), (left, left)]


def _holds(found, low, high=None, relative="1e-12", absolute="1e-17"):
    """The lower end is at most the truth, the upper end is not below it; both are near."""
    slack = Fraction(1, 10**40)
    least = oracles.exactly(low)
    most = least if high is None else oracles.exactly(high)
    room = Fraction(absolute)
    assert least * (1 - Fraction(relative)) - room <= found[0] <= least * (1 + slack) + slack
    assert most * (1 - slack) - slack <= found[1] <= most * (1 + Fraction(relative)) + room


def _both(figure, *asked):
    """From below and from above, all shifts listed."""
    return figure(*asked, False, True), figure(*asked, True, True)


def _exactly_as(mechanism, pairs, orders=_ORDERS):
    with precision(128):
        for order in orders:
            truth = max(brute_force.renyi(one, order) for one in pairs)
            _holds(_both(divergences.renyi, mechanism, order), truth)
        for level in _LEVELS:
            truth = max(brute_force.delta(one, oracles.real(level)) for one in pairs)
            _holds(_both(divergences.delta, mechanism, level, 80), truth)


_CASES = [
    (name, shift, modulus)
    for name in _LAWS
    for shift, modulus in ((1, None), (3, None), (1, 11), (2, 8))
]


@pytest.mark.slow_cases("polya-2-8")
@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(("name", "shift", "modulus"), _CASES)
def test_noise(name, shift, modulus):
    mechanism = Additive(_LAWS[name][0], shift, modulus)
    infinite = name == "binomial" and modulus is None
    _exactly_as(mechanism, _pairs(name, shift, modulus), () if infinite else _ORDERS)
    if infinite:
        assert divergences.renyi(mechanism, Fraction(2), False, True) == float("inf")


@pytest.mark.quick_cases(10)
@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize(("name", "shift", "modulus"), [each for each in _CASES if each[1] < 3])
def test_sampled_noise(name, shift, modulus, removing):
    rate = Fraction(1, 5)
    mechanism = Sampled(Additive(_LAWS[name][0], shift, modulus), rate, removing)
    pairs = _mixed(_pairs(name, shift, modulus), rate, removing)
    infinite = name == "binomial" and modulus is None
    _exactly_as(mechanism, pairs, () if infinite else _ORDERS)


@pytest.mark.parametrize("name", ["laplace", "gaussian", "skellam"])
def test_batches_of_a_fixed_size(name):
    """From the mixture that some neighbours attain to what dominates all of them."""
    batch = FixedSize(Additive(_LAWS[name][0], 1, None), 2, 10)
    attained = _mixed(_pairs(name, 1, None)[:1], Fraction(1, 5), True)[0]
    above = _both_ways(attained)
    with precision(128):
        for order in _ORDERS:
            plain = brute_force.renyi(_pairs(name, 1, None)[0], order)
            high = min(brute_force.renyi(above, order), plain)
            found = _both(divergences.renyi, batch, order)
            _holds(found, brute_force.renyi(attained, order), high)
        for level in _LEVELS:
            ends = [brute_force.delta(one, oracles.real(level)) for one in (attained, above)]
            _holds(_both(divergences.delta, batch, level, 80), *ends)


@pytest.mark.parametrize("slack", ["1/1000", "1/50"])
def test_slack_leaves_no_pair_within_it_out(slack):
    """Of all pairs that are within the slack, none costs less than the lower end, none more."""
    p, q = (
        (Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)),
        (Fraction(1, 10), *2 * (Fraction(9, 20),)),
    )
    s = Fraction(slack)
    mechanism = TwoLaws(p, q, s)
    near = [
        (
            [a + s * m for a, m in zip(p, moved, strict=True)],
            [b + s * m for b, m in zip(q, back, strict=True)],
        )
        for moved in ((0, 0, 0), (-1, 1, 0), (1, -1, 0), (-1, 0, 1), (1, 0, -1), (0, 1, -1))
        for back in ((0, 0, 0), (-1, 1, 0), (1, -1, 0), (1, 0, -1), (-1, 0, 1), (0, -1, 1))
    ]
    pairs = [[*zip(map(oracles.real, a), map(oracles.real, b), strict=True)] for a, b in near]
    with precision(128):
        for level in _LEVELS:
            costs = [oracles.exactly(brute_force.delta(one, oracles.real(level))) for one in pairs]
            low, high = _both(divergences.delta, mechanism, level, 80)
            assert low <= min(costs) and max(costs) <= high
            room = 2 * s * (1 + Fraction(2719, 1000))
            assert high - low <= room * Fraction("1.001")
        for order in _ORDERS:
            costs = [oracles.exactly(brute_force.renyi(one, order)) for one in pairs]
            low, high = _both(divergences.renyi, mechanism, order)
            assert 0 < low <= min(costs) and high == float("inf")
        low, high = _both(divergences.pure, mechanism)
        costs = [oracles.exactly(brute_force.pure(one)) for one in pairs]
        assert 0 < low <= min(costs) <= low * (1 + 40 * s) and high == float("inf")
