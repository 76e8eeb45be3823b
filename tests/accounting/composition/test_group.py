"""Group privacy: bounds contain what a group really loses, found by other means."""

from fractions import Fraction
from itertools import pairwise, product

import pytest

from exactdp import ParameterError, time_limit
from exactdp.accounting import compose
from exactdp.accounting.composition.group import group_epsilons
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, DiscreteLaplace, RandomizedResponse
from exactdp.mechanisms.specs.spec import parse

LEVEL = Fraction(1, 10**3)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_noise_on_a_number_costs_what_it_costs_at_the_groups_sensitivity(size):
    for law in (DiscreteLaplace(4), DiscreteGaussian(9)):
        found = group_epsilons(compose((AdditiveNoise(law, 2), 3)), [size], LEVEL)[0]
        truth = compose((AdditiveNoise(law, 2 * size), 3)).epsilon(LEVEL)
        assert found.lower <= truth.upper and truth.lower <= found.upper
        assert found.is_within(Fraction(1, 10**3))


def mixture(members, rate, pmf):
    """The law of a sampled sum of as many members, each 1: noise moved by how many take part."""
    found = {}
    for chosen in product((0, 1), repeat=members):
        weight = Fraction(1)
        for one in chosen:
            weight *= rate if one else 1 - rate
        for outcome, p in pmf.items():
            at = outcome + sum(chosen)
            found[at] = found.get(at, 0) + weight * p
    return found


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_sampled_groups_true_cost_is_below_the_upper_end(size):
    """Members who all add 1 to a sum, outcomes far off left out: a lower bound of delta."""
    rate, reach = Fraction(1, 4), 40
    mechanism = parse("discrete-laplace:scale=2,neighbours=add-remove,poisson=0.25").mechanism
    found = group_epsilons(compose(mechanism), [size], LEVEL)[0]
    law = DiscreteLaplace(2)
    pmf = {x: Fraction(str(law.pmf(x, 30))) for x in range(-reach, reach + 1)}
    with_group, without = mixture(size, rate, pmf), pmf
    epsilon = float(found.upper)
    bound = Fraction(2.718281828459045**epsilon)
    for p, q in ((with_group, without), (without, with_group)):
        delta = sum(max(p[x] - bound * q.get(x, 0), 0) for x in p if abs(x) < reach - size)
        assert delta <= LEVEL * Fraction(1_000_001, 1_000_000)
    assert found.lower <= found.upper < 10


def test_rules_give_no_less_than_one_user_and_no_more_than_pure():
    response = compose((RandomizedResponse(1), 2))
    found = group_epsilons(response, [3], LEVEL)[0]
    one = response.epsilon(LEVEL)
    assert found.lower <= one.upper
    assert found.upper <= 6
    assert found.upper >= one.lower


@pytest.mark.slow
def test_steps_hold_where_neither_pure_nor_gaussian_do():
    """(e, d)-DP is (2e, (1 + e^e) d)-DP: so it is at the upper end, by another's arithmetic."""
    m = parse("gaussian:sigma=1,sensitivity=1,neighbours=add-remove,poisson=0.01").mechanism
    of = compose((m, 100))
    found = group_epsilons(of, [2], "1e-5")[0]
    half = Fraction(found.upper) / 2
    assert float(of.delta(half).lower) * (1 + 2.718281828459045 ** float(half)) <= 1e-5
    assert found.upper < 2 * of.epsilon("1e-10").upper


@pytest.mark.parametrize("size", [0, -1, "1/2"])
def test_a_group_has_somebody(size):
    with pytest.raises(ParameterError, match="size"):
        group_epsilons(compose(RandomizedResponse(1)), [size], LEVEL)[0]


def test_of_delta_zero_nothing_is_asked():
    with pytest.raises(ParameterError, match="delta"):
        group_epsilons(compose(RandomizedResponse(1)), [2], 0)[0]


@pytest.mark.parametrize("spec", ["discrete-laplace:epsilon=0.5", "randomized-response:epsilon=1"])
def test_several_sizes_are_what_each_is_by_itself(spec):
    of = compose((parse(spec).mechanism, 2))
    together = group_epsilons(of, [1, 2, 4], LEVEL)
    assert together == [group_epsilons(of, [size], LEVEL)[0] for size in (1, 2, 4)]
    assert all(a.upper <= b.upper for a, b in pairwise(together))


@pytest.mark.slow
def test_what_takes_too_long_is_left_open():
    of = compose((parse("skellam:variance=100,l2=4,neighbours=add-remove").mechanism, 300))
    with time_limit(0.3):
        for found in group_epsilons(of, [2, 5], "1e-6"):
            assert found.lower <= found.upper


@pytest.mark.parametrize("rate", ["", ",neighbours=add-remove,poisson=0.5"])
def test_a_table_has_no_groups(rate, tmp_path):
    (tmp_path / "pair.csv").write_text("outcome,p,q\nyes,0.6,0.4\nno,0.4,0.6\n")
    of = compose(parse(f"pmf:file={tmp_path / 'pair.csv'}{rate}").mechanism)
    with pytest.raises(ParameterError, match="two named datasets"):
        group_epsilons(of, [2], LEVEL)[0]
