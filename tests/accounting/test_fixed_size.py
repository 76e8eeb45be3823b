"""Batches of a fixed size against sums over all of them; one use against many."""

from fractions import Fraction

import brute_force
import mpmath
import oracles
import pytest
from mpmath import mpf
from subsets import fixed_size, neighbours, released, together

from exactdp import Enclosure, ParameterError
from exactdp.accounting import compose
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    FixedSize,
    PolyaDifference,
    RandomizedResponse,
    Sampled,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

SIZE, WIDE, LEVEL, DELTA = 2, Fraction(1, 10**5), "0.1", "1e-3"
# others' data, the user's old and new data: values in 0, 1, 2
DATA = [((0, 0, 0, 0), 2, 0), ((2, 2, 2), 0, 2), ((1, 1, 1, 1, 1), 0, 2), ((0, 1, 2), 1, 2)]


def noise(pmf, reach):
    table = {x: pmf(x) for x in range(-reach - 8, reach + 9)}
    return lambda value: {x: table[x - value] for x in range(-reach, reach + 1)}


def flipped(epsilon):
    keep = mpmath.exp(mpf(epsilon)) / (1 + mpmath.exp(mpf(epsilon)))
    return lambda value: {value: keep, 1 - value: 1 - keep}


with mpmath.workdps(brute_force.DIGITS):
    KINDS = {
        "discrete Laplace": (
            AdditiveNoise(DiscreteLaplace(1), 2),
            sum,
            noise(oracles.discrete_laplace(1), 50),
        ),
        "discrete Gaussian": (
            AdditiveNoise(DiscreteGaussian(1), 2),
            sum,
            noise(oracles.discrete_gaussian(1), 22),
        ),
        "Skellam": (AdditiveNoise(Skellam(1), 2), sum, noise(oracles.skellam(1), 34)),
        "randomized response": (
            RandomizedResponse("0.7"),
            lambda batch: int(2 in batch),
            flipped("0.7"),
        ),
    }


def pair_of(query, response, others, old, new):
    with mpmath.workdps(brute_force.DIGITS):
        return neighbours(
            *(released(fixed_size((*others, own), SIZE), query, response) for own in (old, new))
        )


def is_attained(name, data):
    """Where all others have the new data and the query tells the user from them."""
    return data == DATA[0] or (data == DATA[1] and name != "randomized response")


def dearest(pair, measure):
    return max(measure(pair), measure([(q, p) for p, q in pair]))


def asked(mechanism, times):
    composed = compose((mechanism, times))
    level = mpf(LEVEL)
    yield composed.delta(LEVEL, WIDE), lambda pair: brute_force.delta(pair, level)
    yield composed.epsilon(DELTA, WIDE), lambda pair: brute_force.epsilon(pair, DELTA)
    yield composed.renyi("1.5"), lambda pair: brute_force.renyi(pair, "1.5")
    yield composed.renyi(3), lambda pair: brute_force.renyi(pair, 3)
    if composed.pure().is_finite():
        yield composed.pure(), brute_force.pure


@pytest.mark.slow_cases(
    "others0-2-0-Skellam",
    "others0-2-0-discrete Gaussian",
    "others1-0-2-Skellam",
    "others1-0-2-discrete Gaussian",
    "others2-0-2-Skellam",
    "others2-0-2-discrete Gaussian",
    "others3-1-2-Skellam",
    "others3-1-2-discrete Gaussian",
)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("others", "old", "new"), DATA)
def test_all_datasets_are_bounded_and_some_attain_it(name, others, old, new):
    plain, query, response = KINDS[name]
    mechanism = FixedSize(plain, SIZE, len(others) + 1)
    pair = pair_of(query, response, others, old, new)
    attained = is_attained(name, (others, old, new))
    with mpmath.workdps(brute_force.DIGITS):
        for found, measure in asked(mechanism, 1):
            truth = dearest(pair, measure)
            assert truth <= oracles.real(Fraction(found.upper)) * (1 + mpf(10) ** -15)
            if attained:
                assert truth >= oracles.real(Fraction(found.lower)) * (1 - mpf(10) ** -15)


@pytest.mark.slow_cases("others0-0-2-discrete Laplace", "others1-0-2-discrete Laplace")
@pytest.mark.parametrize("name", ["discrete Laplace", "randomized response"])
@pytest.mark.parametrize(("others", "old", "new"), DATA[1:3])
def test_two_uses(name, others, old, new):
    plain, query, response = KINDS[name]
    if name == "discrete Laplace":
        with mpmath.workdps(brute_force.DIGITS):
            response = noise(oracles.discrete_laplace(1), 34)
    mechanism = FixedSize(plain, SIZE, len(others) + 1)
    one = pair_of(query, response, others, old, new)
    both = together(one, one)
    with mpmath.workdps(brute_force.DIGITS):
        for found, measure in asked(mechanism, 2):
            truth = dearest(both, measure)
            assert truth <= oracles.real(Fraction(found.upper)) * (1 + mpf(10) ** -13)
            if is_attained(name, (others, old, new)):
                assert truth >= oracles.real(Fraction(found.lower)) * (1 - mpf(10) ** -13)


@pytest.mark.slow
def test_full_batches_are_the_mechanism_itself():
    plain = AdditiveNoise(Skellam(2), 2)
    for times in (1, 2):
        one, other = compose((FixedSize(plain, 7, 7), times)), compose((plain, times))
        assert one.renyi(2) == other.renyi(2)
        assert one.epsilon("1e-3", WIDE) == other.epsilon("1e-3", WIDE)


@pytest.mark.slow
def test_poisson_sampling_tells_one_where_batches_of_a_fixed_size_cost_ten():
    """Values within 1 of 0, noise of standard deviation 0.8 (in tenths, where it is discrete): a
    user who is replaced moves the sum by 2, one who is removed by 1."""
    poisson = ContinuousNoise(Shape.GAUSSIAN, "0.8", 1, "add-remove", "0.001")
    batches = FixedSize(AdditiveNoise(DiscreteGaussian(64), 20), 100, 100_000)
    assert compose((poisson, 10_000)).epsilon("1e-6", WIDE).at_most(1) is True
    assert compose((batches, 10_000)).epsilon("1e-6", Fraction(1, 100)).at_least(10) is True


@pytest.mark.parametrize(
    "plain",
    [
        AdditiveNoise(DiscreteLaplace(1), 1, 9),
        AdditiveNoise(PolyaDifference("0.5", 2)),
        AdditiveNoise(Binomial(5, "1/2")),
        Sampled(RandomizedResponse(1), "1/2"),
    ],
)
def test_what_is_not_known_is_refused(plain):
    with pytest.raises(ParameterError, match="fixed-size"):
        FixedSize(plain, 1, 10)


def test_a_batch_is_no_larger_than_all_users():
    with pytest.raises(ParameterError, match="fixed-size"):
        FixedSize(RandomizedResponse(1), 11, 10)


def test_a_batch_of_all_users_costs_what_the_noise_alone_does():
    all_users = FixedSize(ContinuousNoise(Shape.LAPLACE, 70, 7), 10, 10)
    assert compose(all_users).pure() == (Enclosure.exactly(Fraction(1, 10)))
