"""The privacy statement against compositions composed by hand."""

import math
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement

import numpy as np
import pytest

from exactdp import ZCDP, ApproxDP, Enclosure, PureDP
from exactdp.accounting import compose
from exactdp.bandit.algorithms import (
    CDP_SE,
    DIST_CDP_SE,
    DIST_DP_SE,
    DIST_RDP_SE,
    LDP_SE,
    SDP_AE,
    SHUFFLE_DP_SE,
)
from exactdp.bandit.evidence import repeated_cost
from exactdp.bandit.plan import prepare
from exactdp.bandit.privacy import privacy
from exactdp.bandit.setting import Setting
from exactdp.mechanisms import AdditiveNoise
from exactdp.protocols import SumProtocol

SETTING = Setting(2, 400, "0.5")


def dearest(plan, count):
    """Of all releases of all arms, those that cost most."""
    each = [pair for pair in plan.releases() for _ in range(plan.setting.arms)]
    return sorted(each, key=lambda pair: pair[1].measured.upper, reverse=True)[:count]


def mechanisms(plan):
    """Before the reduction mod m, which takes a little of what they spend, if m is small."""
    found = [release.protocol.released() for release, _ in dearest(plan, len(plan.batches))]
    return [AdditiveNoise(each.law, each.sensitivity) for each in found]


@pytest.mark.parametrize("algorithm", [DIST_DP_SE, CDP_SE, LDP_SE, SHUFFLE_DP_SE])
def test_pure_epsilon_adds_up(algorithm):
    plan = prepare(algorithm, SETTING)
    spent = privacy(plan)
    assert spent.claim == PureDP("0.5")
    assert spent.quantity == "epsilon"
    assert spent.once.at_most(Fraction(1, 2))
    assert spent.once.upper >= Fraction(1, 2) - Fraction(1, 10**3)  # which its certificate proves
    assert spent.batches == 6
    assert spent.together.at_most(3)
    assert spent.together.upper >= 3 - Fraction(1, 10**3)
    each = [held.measured for _, held in dearest(plan, 6)]
    assert spent.together.lower <= sum(Fraction(one.upper) for one in each)
    assert spent.together.at_least(sum(Fraction(one.lower) for one in each) - Fraction(1, 10**12))
    assert spent.epsilon is None


def test_epsilon_at_delta_is_composed_exactly():
    plan = prepare(DIST_DP_SE, Setting(2, 30, "0.5"))
    assert len(mechanisms(plan)) == 3
    spent = privacy(plan, 3, "1e-3")
    each = [
        AdditiveNoise(found.law, found.sensitivity)
        for found in (release.protocol.released() for release, _ in plan.releases())
    ]
    by_hand = [
        compose(*[each[index] for index in chosen])
        for chosen in combinations_with_replacement(range(len(each)), 3)
        if len(set(chosen)) > 1  # two arms: at most twice the same
    ]
    dearest = reduce(Enclosure.maximum, [choice.epsilon("1e-3") for choice in by_hand])
    assert spent.epsilon.intersection(dearest).is_finite()
    assert spent.epsilon.at_most(Fraction(3, 2))
    assert spent.to_json()["returning"]["delta"] == "0.001"


def test_the_dearest_at_delta_are_not_the_dearest_by_pure_epsilon():
    plan = prepare(DIST_DP_SE, Setting(10, 10**5, "0.5", growth=4))
    spent = privacy(plan, 5, "0.05")
    # five batches of 4 users: randomized response, 2^5 outcomes; found apart from the library
    dearest = Fraction("1.73411966969272")
    # before the reduction mod m, which takes next to nothing here
    assert spent.epsilon.at_least(dearest - Fraction(1, 10**4))
    assert spent.epsilon.at_most(dearest + Fraction(1, 10**13))


def test_epsilon_at_delta_is_of_what_is_released_and_at_most_pure():
    """Reduced mod m, two batches have a pure epsilon of 1.7999993; before it, 1.8."""
    spent = privacy(prepare(DIST_DP_SE, Setting(10, 40, "0.9")), 2, "1e-12")
    assert spent.together.less_than(Fraction("1.7999995"))
    assert spent.epsilon.upper <= spent.together.upper
    assert spent.epsilon.at_least(Fraction("1.7998"))


def uniform_choices(plan, batches):
    """Each release alone, as often as there are arms and batches of its size."""
    for release, _ in plan.releases():
        mechanism = release.protocol.released()
        plain = AdditiveNoise(mechanism.law, mechanism.sensitivity)
        yield compose((plain, min(batches, plan.setting.arms)))


@pytest.mark.quick_cases(2)
@pytest.mark.slow_cases("1-2.5", "3-2.5", "3-2", "3-3", "3-4")
@pytest.mark.parametrize("growth", [2, "2.5", 3, 4, 8])
@pytest.mark.parametrize("batches", [1, 3, pytest.param(8, marks=pytest.mark.slow)])
def test_no_choice_of_batches_costs_more(growth, batches):
    plan = prepare(DIST_DP_SE, Setting(8, 4000, "0.7", growth=growth))
    for delta in ("1e-9", "1e-3", "0.05", "0.5"):
        account = privacy(plan, batches, delta).epsilon
        more = privacy(plan, batches + 1, delta).epsilon
        assert more.upper >= account.lower
        for choice in uniform_choices(plan, batches):
            assert account.upper >= choice.epsilon(delta).lower


def test_a_longer_stay_than_the_schedule_runs_it_again():
    plan = prepare(DIST_DP_SE, Setting(2, 100, "0.5"))
    offered = 2 * max(number for number, _ in plan.batches)
    once, twice = privacy(plan, offered, "0.1"), privacy(plan, offered + 1, "0.1")
    assert twice.epsilon.lower >= once.epsilon.upper
    assert Fraction(twice.together.upper) > Fraction(once.together.upper)


def test_a_relaxed_aggregation_is_charged_for():
    plan = prepare(SHUFFLE_DP_SE, Setting(2, 10, "0.5"))
    spent = privacy(plan, 1, "1e-9")
    assert spent.epsilon.at_most(Fraction(1, 2))
    assert spent.epsilon.greater_than(Fraction(2, 5))  # the sum mod m alone: at most 1/4


@pytest.mark.slow
def test_renyi_divergences_and_rho_add_up():
    plan = prepare(DIST_RDP_SE, Setting(2, 60, "0.5"))
    spent, composition = privacy(plan), compose(*mechanisms(plan))
    assert spent.quantity == "Rényi divergence of order 2"
    whole = Fraction(composition.renyi(2).upper)
    assert spent.together.at_most(whole) is not False
    assert spent.together.at_least(whole * Fraction(999, 1000))
    plan = prepare(DIST_CDP_SE, Setting(2, 60, "0.5"))
    spent, composition = privacy(plan), compose(*mechanisms(plan))
    assert isinstance(spent.claim, ZCDP)
    assert spent.once.contains(Fraction(1, 8)) or spent.once.less_than(Fraction(1, 8))
    assert (
        spent.together.lower <= composition.zcdp().upper <= spent.together.upper * Fraction(11, 10)
    )


@pytest.mark.slow
def test_epsilon_and_delta_add_up_by_basic_composition():
    plan = prepare(SDP_AE, Setting(2, 3000, "0.9", delta="1e-3"))
    spent = privacy(plan)
    assert spent.claim == ApproxDP("0.9", "1e-3")
    assert spent.batches > 1
    assert spent.together.upper == spent.once.upper * spent.batches
    assert "basic composition" in spent.note
    exact = compose((mechanisms(plan)[0], spent.batches))
    at = Fraction(1, 1000) * spent.batches
    assert exact.epsilon(at).at_most(Fraction(spent.together.upper))


def brute_force(protocol, places):
    """max |log ratio| of what is released mod m, for sums that differ by up to so many rewards."""
    m, scale = protocol.modulus, float(protocol.precision / Fraction(1, 2))
    law = np.zeros(m)
    for x in range(-400, 401):  # the total noise, discrete Laplace
        law[x % m] += math.exp(-abs(x) / scale) * math.tanh(1 / (2 * scale))
    shifts = range(1, places * protocol.precision + 1)
    return max(float(np.log(law / np.roll(law, shift)).max()) for shift in shifts)


@pytest.mark.parametrize("places", [1, 2, 3])
def test_several_places_in_one_sum_are_those_of_all_outcomes(places):
    """Against every outcome of a small modulus, where wrapping tells less than the sum itself."""
    for users, modulus in ((4, 12), (4, 25), (9, 40)):
        stated = DIST_DP_SE.release(SETTING, users).protocol
        protocol = SumProtocol(users, stated.precision, 3, modulus, stated.noise)
        cost = repeated_cost(protocol, DIST_DP_SE.demand(SETTING), places)
        truth = brute_force(protocol, places)
        assert float(cost.lower) <= truth + 1e-9 and truth - 1e-9 <= float(cost.upper)
        assert truth < places / 2
        assert float(cost.upper) <= truth * (1 + 1e-5)


def test_so_many_places_that_their_sums_wrap_cost_less_than_before_the_reduction():
    """A move by T of noise of parameter b, mod m, has the ratios (1 + b^m)/(b^T + b^(m-T))."""
    setting = Setting(2, 10**5, 1, confidence="0.01")
    for users in (256, 16384):
        protocol = DIST_DP_SE.release(setting, users).protocol
        released = protocol.released()
        cost = repeated_cost(protocol, DIST_DP_SE.demand(setting), users)
        log_b, m = -1 / released.law.scale, released.modulus
        farthest = min(users * released.sensitivity, m // 2)  # the largest of those ratios
        truth = math.log1p(math.exp(m * log_b)) - np.logaddexp(
            float(farthest * log_b), float((m - farthest) * log_b)
        )
        assert float(cost.lower) <= truth <= float(cost.upper)


def test_a_leak_counts_once_and_divergences_grow_with_the_square():
    spent = privacy(prepare(SHUFFLE_DP_SE, SETTING), 2)
    assert spent.one_sum.at_most(Fraction(3, 4))  # 1/4 for the leak, 1/4 for each place
    demand = DIST_RDP_SE.demand(Setting(2, 400, "0.5"))
    for users in (16, 10**6):  # by the divergence itself, and by the Gaussian that hides it
        protocol = DIST_RDP_SE.release(Setting(2, 400, "0.5"), users).protocol
        for places in (1, 2, 5):
            cost = repeated_cost(protocol, demand, places)
            gaussian = places**2 / 4  # order 2, variance (g/epsilon)²
            assert 0.99 * gaussian <= float(cost.upper) <= 1.01 * gaussian
