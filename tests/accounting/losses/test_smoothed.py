"""Smoothing, its scan in floats and its tables in balls, against sums and the exact ways."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st

from exactdp.accounting.divergences.privacy_profile import value_at
from exactdp.accounting.losses.composite import Composite, saddle_at
from exactdp.accounting.losses.law import Atoms
from exactdp.accounting.losses.listed import ListedLoss
from exactdp.accounting.losses.of_pair import listed_law
from exactdp.accounting.losses.scan import Scan, Screened
from exactdp.accounting.losses.smoothed import SmoothedProfile
from exactdp.accounting.losses.table import BallTable
from exactdp.exact import working_precision
from exactdp.mechanisms import PolyaDifference, Skellam
from exactdp.mechanisms.pair import FinitePair
from exactdp.mechanisms.shift_pair import ShiftPair

SKELLAM = ShiftPair(Skellam(3), 2)
POLYA = ShiftPair(PolyaDifference("0.7", 2), 1)
THREE = FinitePair(("a", "b", "c"), ("0.5", "0.3", "0.2"), ("0.4", "0.25", "0.35"))


def transform(law: Atoms, s: complex) -> mpmath.mpc:
    return mpmath.fsum(
        mpmath.mpf(mass.mid().str(40, radius=False))
        * mpmath.exp(mpmath.mpmathify(s) * mpmath.mpf(loss.mid().str(40, radius=False)))
        for mass, loss in zip(law.masses, law.losses, strict=True)
    )


@pytest.mark.parametrize("first", [0, 1, 97, 1_000_003])
@pytest.mark.parametrize("count", [1, 2, 5, 33])
def test_the_table_holds_the_transform_at_its_nodes(first, count):
    with working_precision(128):
        law, c, spacing = listed_law(SKELLAM, -60.0), arb("1.5"), arb("0.37")
        values = BallTable(law, c, spacing).transforms(first, count)
        assert len(values) == count
        for j in (0, count // 2, count - 1):
            direct = law.transform(acb(c, spacing * (first + j)))
            assert values[j].overlaps(direct)
            assert abs(values[j]).rad() < arb(2) ** -80


@pytest.mark.slow_cases("pair1-1")
@pytest.mark.parametrize("times", [1, 7, 100_000])  # the last one is scanned in double precision
@pytest.mark.parametrize("pair", [SKELLAM, POLYA, THREE])
def test_the_scan_is_never_below_the_truth(pair, times):
    with working_precision(128):
        law, c, spacing = listed_law(pair, -60.0), 0.8, arb("0.61803")
        found = Scan([(law, times)], c, spacing).log_bounds(50, 200)
        at_c = abs(law.transform(acb(c)))
        for j in range(0, 200, 7):
            size = abs(law.transform(acb(c, spacing * (50 + j)))) / at_c
            truth = float((size.log() * times).mid())
            assert found[j] >= truth
            # and not far above, where single precision can tell
            slack = times * (2e-4 if times <= 1000 else 1e-9) / float(size.mid())
            assert found[j] <= truth + slack + 1e-6


@pytest.mark.parametrize("times", [40, 1000, 100_000])
@pytest.mark.parametrize("pair", [SKELLAM, POLYA, THREE])
@pytest.mark.parametrize("first", [0, 50])
def test_a_scan_in_strides_is_never_below_the_truth(first, pair, times):
    with working_precision(128):
        law, c, spacing = listed_law(pair, -60.0), 0.8, arb("0.01618")
        limit = -30.0
        scan = Screened([(law, times)], c, spacing, limit)
        assert scan.stride > 1
        found = scan.log_bounds(first, 200)
        at_c = abs(law.transform(acb(c)))
        for j in range(0, 200, 7):
            size = abs(law.transform(acb(c, spacing * (first + j)))) / at_c
            assert found[j] >= float((size.log() * times).mid())
        each = Scan([(law, times)], c, spacing).log_bounds(first, 200)
        told = found > limit  # as near as each node tells
        assert np.allclose(found[told], each[told], atol=1e-3 * times**0.5)
        # what one node tells of several is no more than that
        assert (found[~told] >= each[~told] - 1e-3 * times).all()


def test_atoms_that_weigh_next_to_nothing_widen_the_table():
    with working_precision(128):
        law, spacing = listed_law(SKELLAM, -60.0), arb("0.37")
        light = Atoms(
            [*law.masses, arb("1e-32")], [*law.losses, arb(2)], law.escaping(), law.missing()
        )
        c = arb(1)
        plain, table = (BallTable(one, c, spacing) for one in (law, light))
        assert sum(map(len, (losses for _, losses in table.chunks))) <= len(law)
        for j in (0, 5):
            (value,) = table.transforms(j, 1)
            assert value.contains(plain.transforms(j, 1)[0].mid())
            assert value.overlaps(light.transform(acb(c, spacing * j)))
            assert value.real.rad() >= arb("7e-32")


@pytest.mark.slow
@given(
    st.lists(st.integers(1, 30), min_size=2, max_size=5),
    st.lists(st.integers(1, 30), min_size=5, max_size=5),
    st.integers(2, 6),
    st.fractions(0, 4, max_denominator=7),
)
def test_smoothing_agrees_with_listing_for_random_pairs(ps, qs, times, level):
    qs = qs[: len(ps)]
    pair = FinitePair(
        tuple(map(str, range(len(ps)))),
        tuple(Fraction(p, sum(ps)) for p in ps),
        tuple(Fraction(q, sum(qs)) for q in qs),
    )
    with working_precision(128):
        parts = [(listed_law(pair, -60.0), times)]
        here = arb(level.numerator) / level.denominator
        exact = value_at(here, ListedLoss(parts).exceeding(here))
        if not Composite(parts).largest() > here + arb("0.01"):
            return
        saddle = saddle_at(Composite(parts), float(level))
        lower, upper = SmoothedProfile(parts, saddle, 0.05, 1.0).bounds(here)
        assert not lower > exact
        assert not upper < exact


@pytest.mark.slow_cases("6")
@pytest.mark.parametrize("times", [6, 12])
def test_halving_sigma_quarters_the_gap(times):
    gaps = []
    with working_precision(128):
        parts = [(listed_law(SKELLAM, -80.0), times), (listed_law(POLYA, -80.0), times)]
        saddle = saddle_at(Composite(parts), 2.0)
        for sigma in (0.2, 0.1):
            lower, upper = SmoothedProfile(parts, saddle, sigma, 2.0).bounds(arb(2))
            gaps.append(float((upper - lower).mid()))
    assert 2.5 < gaps[0] / gaps[1] < 8


def test_a_small_allowance_of_work_widens_and_says_so():
    with working_precision(128):
        parts = [(listed_law(SKELLAM, -60.0), 3)]
        saddle = saddle_at(Composite(parts), 2.0)
        limited = SmoothedProfile(parts, saddle, 1e-6, 1e-3)
        assert limited.limited
        lower, upper = limited.bounds(arb(2))
        exact = value_at(arb(2), ListedLoss(parts).exceeding(arb(2)))
        assert not lower > exact
        assert not upper < exact


def test_the_rough_profile_follows_the_bounds():
    with working_precision(128):
        parts = [(listed_law(SKELLAM, -60.0), 5)]
        saddle = saddle_at(Composite(parts), 3.0)
        profile = SmoothedProfile(parts, saddle, 0.01, 1.0)
        lower, upper = profile.bounds(arb(3))
        rough, gap = profile.roughly(3.0)
        assert math.isclose(rough, float(upper.log().mid()), abs_tol=1e-9)
        assert math.isclose(gap, float((upper - lower).log().mid()), abs_tol=1e-3)


def test_tilted_weights_add_up():
    with working_precision(128):
        weights = listed_law(SKELLAM, -60.0).tilted(2.5)
        assert np.isclose(weights.sum(), 1)
        s = 2.5
        law = listed_law(SKELLAM, -60.0)
        assert math.isclose(
            law.cumulant(s).value, float(mpmath.log(transform(law, s).real)), rel_tol=1e-12
        )
