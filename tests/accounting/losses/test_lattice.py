"""Tails on a lattice against plain sums, and where losses live."""

import math
from fractions import Fraction

import mpmath
import pytest
from brute_force import DIGITS
from flint import acb, arb

from exactdp import Enclosure
from exactdp.accounting import compose
from exactdp.accounting.divergences.privacy_profile import value_at
from exactdp.accounting.losses.composite import Composite, saddle_at
from exactdp.accounting.losses.lattice import LatticeTail
from exactdp.accounting.losses.of_pair import common_ratio, listed_law, loss_law
from exactdp.exact import working_precision
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
    papers,
)
from exactdp.mechanisms.pair import FinitePair, ResponsePair
from exactdp.mechanisms.shift_pair import ShiftPair

LAPLACE = ShiftPair(DiscreteLaplace(3), 4)
GAUSSIAN = ShiftPair(DiscreteGaussian("2.5"), 2)


def mp(value: arb) -> mpmath.mpf:
    return mpmath.mpf(value.mid().str(50, radius=False))


@pytest.mark.parametrize("pair", [LAPLACE, GAUSSIAN, ResponsePair(Fraction(2), Fraction(1, 9))])
@pytest.mark.parametrize("s", [acb(0.25), acb(0.25, 2.75), acb(4, -11)])
def test_closed_transforms_are_the_sums(pair, s):
    with working_precision(128):
        closed, listed = loss_law(pair, -400.0), listed_law(pair, -400.0)
        direct = listed.transform(s)
        off = abs(closed.transform(s) - direct)
        assert off.lower() < arb(2) ** -90
        assert math.isclose(
            closed.cumulant(0.7).value,
            float(listed.transform(acb("0.7")).real.log().mid()),
            rel_tol=1e-9,
        )


@pytest.mark.parametrize("level", ["0", "1/3", "1", "5", "79/3", "80/3", "27"])
def test_delta_of_a_composed_lattice_is_the_sum_over_its_powers(level):
    times, level = 20, Fraction(level)
    with mpmath.workdps(DIGITS):
        beta = mpmath.exp(-mpmath.mpf(1) / 3)
        weights = [1 / (1 + beta)]
        weights += [mpmath.tanh(mpmath.mpf(1) / 6) * beta**j for j in range(1, 4)]
        weights += [beta**4 / (1 + beta)]
        power = [mpmath.mpf(1)]
        for _ in range(times):
            longer = [mpmath.mpf(0)] * (len(power) + 4)
            for i, a in enumerate(power):
                for j, b in enumerate(weights):
                    longer[i + j] += a * b
            power = longer
        here = mpmath.mpf(level.numerator) / level.denominator
        truth = mpmath.fsum(
            mass * max(0, 1 - mpmath.exp(here - mpmath.mpf(4 * times - 2 * j) / 3))
            for j, mass in enumerate(power)
        )
    with working_precision(96):
        composite = Composite([(loss_law(LAPLACE, -200.0), times)])
        lattice = composite.lattice()
        assert lattice is not None
        assert lattice.summit == Fraction(80, 3)
        saddle = saddle_at(composite, float(level))
        at = arb(level.numerator) / level.denominator
        found = value_at(at, LatticeTail(composite, lattice, saddle).exceeding(at, level))
        assert mpmath.almosteq(mp(found), truth, rel_eps=1e-15, abs_eps=1e-60)
        lower, upper = mp(found.lower()), mp(found.upper())
        assert lower <= truth * (1 + mpmath.mpf(10) ** -40) + mpmath.mpf(10) ** -50
        assert upper >= truth * (1 - mpmath.mpf(10) ** -40)


def test_lattices_of_one_unit_combine_and_others_do_not():
    laws = [loss_law(pair, -80.0) for pair in (LAPLACE, GAUSSIAN)]
    both = Composite([(laws[0], 2), (laws[1], 3)]).lattice()
    assert both is not None
    assert (both.step, both.summit) == (Fraction(2, 15), None)
    assert both.origin == 2 * Fraction(4, 3) + 3 * Fraction(4, 5)
    ratio = FinitePair(("a", "b"), ("3/4", "1/4"), ("1/4", "3/4"))
    assert Composite([(laws[0], 1), (loss_law(ratio, -80.0), 1)]).lattice() is None
    with working_precision(96):
        assert Composite([(loss_law(ShiftPair(Skellam(3), 1), -80.0), 1)]).lattice() is None
    inverted = papers.published("0.1", 16).mechanism.law
    assert Composite([(loss_law(ShiftPair(inverted, 1), -80.0), 5)]).lattice() is not None


def test_shape_one_is_the_discrete_laplace():
    same = loss_law(ShiftPair(PolyaDifference(1, 3), 4), -80.0)
    assert same.lattice == loss_law(LAPLACE, -80.0).lattice


@pytest.mark.parametrize(
    ("ratios", "base", "powers"),
    [
        (["2", "4", "1/8"], "2", [1, 2, -3]),
        (["9/4", "27/8"], "3/2", [2, 3]),
        (["1", "1"], "2", [0, 0]),
        (["4/9", "1", "8/27"], "3/2", [-2, 0, -3]),
    ],
)
def test_a_common_ratio_is_found(ratios, base, powers):
    found = common_ratio(sorted(map(Fraction, ratios)))
    assert found is not None
    by_ratio = dict(zip(sorted(map(Fraction, ratios)), found[1], strict=True))
    assert found[0] in (Fraction(base), 1 / Fraction(base))
    sign = 1 if found[0] == Fraction(base) else -1
    assert [sign * by_ratio[Fraction(ratio)] for ratio in ratios] == powers


@pytest.mark.parametrize("ratios", [["2", "3"], ["2", "10000001/10000000"], ["6", "4", "9"]])
def test_ratios_without_a_common_one_have_none(ratios):
    assert common_ratio(sorted(map(Fraction, ratios))) is None


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_the_gaussian_transform_far_from_the_real_axis(shift):
    pair = ShiftPair(DiscreteGaussian("1.25"), shift)
    with working_precision(128):
        closed, listed = loss_law(pair, -400.0), listed_law(pair, -400.0)
        for height in (5, 40, 333):
            s = acb(0.5, height)
            off = abs(closed.transform(s) - listed.transform(s))
            assert off.upper() < arb(2) ** -80


def test_nothing_is_left_where_laws_are_disjoint():
    apart = FinitePair(("a", "b"), (1, 0), (0, 1))
    assert compose((apart, 2)).delta(1) == Enclosure.exactly(1)
    assert compose((apart, 1), (RandomizedResponse(1), 3)).epsilon("0.5") == Enclosure.infinite()
    assert compose((apart, 2)).epsilon(1) == Enclosure.exactly(0)


def test_levels_beyond_all_losses_cost_nothing():
    composition = compose((AdditiveNoise(DiscreteLaplace("26/7"), 4), 1), RandomizedResponse("1/3"))
    most = composition.pure()
    assert composition.delta(most.upper) == Enclosure.exactly(0)
    assert composition.epsilon("1e-300").at_most(most.upper) is True
