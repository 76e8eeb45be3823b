"""What dp_accounting and Rényi accountants are given is pessimistic, and not by much."""

import math
import sys
from decimal import Decimal
from fractions import Fraction

import pytest

from exactdp import ParameterError
from exactdp.accounting import compose
from exactdp.accounting.interop.dp_accounting import rdp_epsilons, to_dp_accounting
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    FinitePair,
    Mechanism,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)

pytest.importorskip("dp_accounting")

STEP = 1e-4  # dp_accounting's own default
PAIR = FinitePair(("a", "b", "c", "d"), ("0.5", "0.3", "0.2", "0"), ("0.2", "0.7", "0", "0.1"))
MECHANISMS: dict[str, Mechanism] = {
    "randomized-response": RandomizedResponse(1),
    "revealing": RandomizedResponse(1, "1e-4"),
    "laplace": AdditiveNoise(DiscreteLaplace(2), 1),
    "laplace-3": AdditiveNoise(DiscreteLaplace("1.7"), 3),
    "gaussian": AdditiveNoise(DiscreteGaussian(4), 1),
    "gaussian-shifted": AdditiveNoise(DiscreteGaussian(100), 30),
    "skellam": AdditiveNoise(Skellam(10), 2),
    "skellam-in-blocks": AdditiveNoise(Skellam(10**8), 1),
    "sum-of-gaussians": AdditiveNoise(DiscreteGaussianSum(3, "0.5"), 1),
    "polya-below-1": AdditiveNoise(PolyaDifference("0.6", 2), 2),
    "polya-above-1": AdditiveNoise(PolyaDifference("2.5", 2), 2),
    "binomial": AdditiveNoise(Binomial(60, "0.3"), 2),
    "skellam-mod-7": AdditiveNoise(Skellam(2), 3, 7),
    "laplace-mod-101": AdditiveNoise(DiscreteLaplace(10), 5, 101),
    "binomial-mod-9": AdditiveNoise(Binomial(20, "0.3"), 2, 9),
    "gaussian-mod-2-to-40": AdditiveNoise(DiscreteGaussian(4), 1, 2**40),
    "pair": PAIR,
    "finite-noise": AdditiveNoise(FiniteLaw({0: "0.5", 1: "0.1", 2: "0.4"}), 2),
}
each_mechanism = pytest.mark.parametrize("name", MECHANISMS)
seconds = pytest.mark.slow_cases(
    "gaussian-mod-2-to-40",
    "gaussian-shifted",
    "gaussian",
    "polya-above-1",
    "polya-below-1",
    "skellam-in-blocks",
    "skellam-mod-7",
    "skellam",
    "sum-of-gaussians",
)
SLOW = ["polya-below-1", "polya-above-1", "skellam-in-blocks", "gaussian-mod-2-to-40"]
LEVELS = ["0", "1e-5", "0.01", "0.12345", "0.5", "0.99999", "1", "1.5", "3"]


@seconds
@each_mechanism
def test_delta_is_above_the_truth_and_near(name: str) -> None:
    law = to_dp_accounting(MECHANISMS[name])
    for level in LEVELS if name not in SLOW else LEVELS[3:4]:
        if name == "skellam-in-blocks":
            level = str(Decimal(level) / 10000)
        theirs = Fraction(float(law.get_delta_for_epsilon(float(level))))
        # the float that they see, and twice the step before it: no loss moves farther
        exact_level = Fraction(float(level))
        assert theirs >= Fraction(compose(MECHANISMS[name]).delta(exact_level).lower)
        before = max(exact_level - 2 * Fraction(STEP), Fraction(0))
        most = Fraction(compose(MECHANISMS[name]).delta(before).upper)
        gap = Fraction(2 * STEP) if exact_level < 2 * STEP else Fraction(0)
        assert theirs <= most * (1 + Fraction(1, 10**10)) + gap + Fraction(1, 10**18)


@seconds
@each_mechanism
def test_epsilon_is_above_the_truth_and_near(name: str) -> None:
    law, mechanism = to_dp_accounting(MECHANISMS[name]), MECHANISMS[name]
    for goal in [1e-3] if name in SLOW else [0.1, 1e-3, 1e-6]:
        theirs = law.get_epsilon_for_delta(goal)
        if theirs == math.inf:
            assert compose(mechanism).delta(10**4).greater_than(Fraction(goal)) is True
            continue
        above = Fraction(theirs) + Fraction(1, 10**10)  # their floats
        assert compose(mechanism).delta(above).at_most(Fraction(goal)) is True
        if theirs > 2 * STEP:
            below = Fraction(theirs) - 2 * Fraction(STEP)
            assert compose(mechanism).delta(below).greater_than(Fraction(goal)) is True


def test_pure_epsilon_stays_where_the_step_divides_it() -> None:
    law = to_dp_accounting(RandomizedResponse("1.5"), 2**-10)
    assert law.get_delta_for_epsilon(1.5) == 0
    assert law.get_delta_for_epsilon(1.5 - 2**-20) > 0
    assert to_dp_accounting(RandomizedResponse("1.5", "1e-3"), 2**-10).get_delta_for_epsilon(
        9.0
    ) == pytest.approx(1e-3, rel=1e-12)
    laplace = to_dp_accounting(AdditiveNoise(DiscreteLaplace(8), 3), 2**-10)
    assert laplace.get_delta_for_epsilon(3 / 8) == 0
    assert laplace.self_compose(5, 0).get_delta_for_epsilon(15 / 8) <= 1e-15


COMPOSED = ["skellam", "laplace", "polya-below-1", "gaussian", "pair", "skellam-mod-7"]


@pytest.mark.slow_cases("polya-below-1-2")
@pytest.mark.parametrize(
    ("name", "times"), [(name, 2) for name in COMPOSED] + [(name, 3) for name in COMPOSED[1::3]]
)
def test_their_composition_is_above_the_truth(name: str, times: int) -> None:
    law = to_dp_accounting(MECHANISMS[name]).self_compose(times)
    uses = compose((MECHANISMS[name], times))
    for level in (0.001, 0.7, 2.0):
        true = uses.delta(Fraction(level))
        theirs = Fraction(float(law.get_delta_for_epsilon(level)))
        assert theirs >= Fraction(true.lower) - Fraction(1, 10**15)  # their own floats
        assert theirs <= Fraction(true.upper) * (1 + Fraction(1, 10**5)) + Fraction(1, 10**5)


def test_composes_with_their_own_laws() -> None:
    from dp_accounting.pld import privacy_loss_distribution

    theirs = privacy_loss_distribution.from_discrete_laplace_mechanism(0.5)
    ours = to_dp_accounting(AdditiveNoise(DiscreteLaplace(2), 1))
    mixed, twice = ours.compose(theirs), ours.self_compose(2)
    assert mixed.get_epsilon_for_delta(1e-3) == pytest.approx(
        twice.get_epsilon_for_delta(1e-3), abs=3e-4
    )


def test_a_users_pair_keeps_its_directions_apart() -> None:
    pair = FinitePair(("a", "b"), ("0.99", "0.01"), ("1", "0"))
    law = to_dp_accounting(pair).self_compose(10)
    assert law.get_delta_for_epsilon(1.0) == pytest.approx(1 - 0.99**10, rel=1e-9)
    back = FinitePair(("a", "b"), ("1", "0"), ("0.99", "0.01"))
    assert to_dp_accounting(back).get_delta_for_epsilon([0.0, 1.0]) == pytest.approx([0.01, 0.01])


def test_nothing_learnt_and_everything_learnt() -> None:
    for law in (Skellam(1), FiniteLaw({0: "0.5", 3: "0.5"})):
        nothing = to_dp_accounting(AdditiveNoise(law, 5, 1))
        assert nothing.get_epsilon_for_delta(0.0) == 0
    everything = to_dp_accounting(RandomizedResponse(1, 1))
    assert everything.get_delta_for_epsilon(50.0) == 1
    assert everything.get_epsilon_for_delta(0.5) == math.inf
    apart = FinitePair(("a", "b"), ("0.9", "0"), ("0", "1"), slack="0.1")
    assert to_dp_accounting(apart).get_delta_for_epsilon(1.0) == 1


@pytest.mark.parametrize("bad", ["0", "-1", "2", "nan", "1e-12", True])
def test_bad_interval(bad: object) -> None:
    with pytest.raises(ParameterError, match="interval must be"):
        to_dp_accounting(RandomizedResponse(1), bad)  # type: ignore[arg-type]


def test_without_dp_accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(ImportError, match=r"exactdp\[interop\]"):
        to_dp_accounting(RandomizedResponse(1))


# -- Rényi curves ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_rdp_is_what_their_conversion_takes() -> None:
    from dp_accounting import rdp

    composition = compose((MECHANISMS["gaussian"], 10), (MECHANISMS["laplace"], 3))
    orders = [1.5, 2, 3, 4, 6, 8, 12, 16, 32]
    curve = rdp_epsilons(composition, orders)
    assert all(isinstance(value, float) for value in curve)
    level, order = rdp.compute_epsilon(orders, curve, 1e-6)
    assert order in orders
    assert composition.delta(Fraction(level)).at_most(Fraction("1e-6")) is True
    assert composition.delta(Fraction(level) / 2).greater_than(Fraction("1e-6")) is True


def test_rdp_orders_are_not_rounded_down() -> None:
    # 1.4 as a float lies below 14/10, at which the curve is asked for
    mechanism = MECHANISMS["gaussian"]
    assert Fraction(1.4) < Fraction("1.4")
    at = Fraction(math.nextafter(1.4, 2))
    assert Fraction(rdp_epsilons(mechanism, ["1.4"])[0]) >= Fraction(
        compose(mechanism).renyi(at).lower
    )
    assert rdp_epsilons(mechanism, [2]) == [0.25]
    assert rdp_epsilons(RandomizedResponse(1, "1e-9"), [2]) == [math.inf]
    with pytest.raises(ParameterError, match="order must be"):
        rdp_epsilons(mechanism, [1])


# -- compositions ---------------------------------------------------------------------------------

COMPOSED_LEVELS = [0, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.1997, 8.0]
EXTREMES: dict[str, tuple[Mechanism, int]] = {
    **{f"laplace x {k}": (AdditiveNoise(DiscreteLaplace(100), 1), k) for k in (1, 10, 1000, 5000)},
    "wide losses": (RandomizedResponse(30), 3),
    "often revealing": (RandomizedResponse(1, "0.1"), 50),
    "all infinite": (RandomizedResponse(1, 1), 5000),
    "disjoint": (AdditiveNoise(Binomial(2, "1/2"), 3), 2),
    "one bit of two": (FinitePair(("a", "b"), ("0.99", "0.01"), ("1", "0")), 10),
    "nothing": (RandomizedResponse(0), 10),
    "tiny": (RandomizedResponse("1e-6"), 1000),
    "asymmetric": (AdditiveNoise(Binomial(60, "0.3"), 2), 20),
}


@pytest.mark.slow_cases("laplace x 1000", "laplace x 5000", "often revealing", "wide losses")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "asymmetric" else [])
        for name in EXTREMES
    ],
)
def test_a_composition_is_never_below_the_truth(name: str) -> None:
    composition = compose(EXTREMES[name])
    law = to_dp_accounting(composition)
    listed = law.get_delta_for_epsilon(COMPOSED_LEVELS)
    for level, at_once in zip(COMPOSED_LEVELS, listed, strict=True):
        if name in ("disjoint", "all infinite"):
            least = upper = Fraction(1)
        else:
            true = composition.delta(Fraction(level), Fraction(1, 10**9))
            least, upper = Fraction(true.lower), Fraction(true.upper)
        theirs = Fraction(float(law.get_delta_for_epsilon(level)))
        assert theirs >= least
        # one pair that dominates both ways round costs more than choosing among them does
        near = Fraction(1, 10) if name == "asymmetric" else Fraction(1, 10**4)
        assert theirs <= upper * (1 + near) + Fraction(2, 10**4)
        if composition.times > 1:  # of a single use, a list may come out lower (docstring)
            assert Fraction(float(at_once)) >= least


def test_different_uses_are_composed_on_one_grid() -> None:
    half = RandomizedResponse("0.5")
    mixed = compose((half, 3), (AdditiveNoise(DiscreteLaplace(4), 2), 2), (PAIR, 2))
    law = to_dp_accounting(mixed, 2**-10)
    for level in (0.0, 0.25, 1.0, 3.0):
        true = mixed.delta(Fraction(level))
        theirs = Fraction(float(law.get_delta_for_epsilon(level)))
        assert Fraction(true.lower) <= theirs <= Fraction(true.upper) * Fraction(10001, 10000)
