"""What the methods of accounting report, against their formulas and against the exact truth."""

from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import Enclosure, ParameterError
from exactdp.accounting.composition.composed import compose
from exactdp.accounting.divergences.conversion import zcdp_to_epsilon
from exactdp.accounting.methods.comparison import (
    ADVANCED,
    BASIC,
    KOV,
    METHODS,
    RDP,
    THEOREM7,
    ZCDP,
    DoesNotApplyError,
    compare,
    least_delta,
)
from exactdp.exact import WIDTH
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace, RandomizedResponse

LAPLACE = AdditiveNoise(DiscreteLaplace(10), 1)


@pytest.mark.parametrize("goal", ["0.1", "1e-6", "1e-300"])
def test_formulas_at_pure_epsilons(goal: str) -> None:
    # the Laplace mechanism at its pure epsilon, or at its epsilon for delta/(2K)
    composition, count = compose((LAPLACE, 64)), 64
    with mpmath.workdps(400):
        d, e = oracles.real(goal), mpf(1) / 10

        def at(share: mpf) -> mpf:  # epsilon of randomized response at this delta
            return max(mpmath.log(mpmath.exp(e) - share * (1 + mpmath.exp(e))), mpf(0))

        def advanced(e_i: mpf, slack: mpf) -> mpf:
            root = mpmath.sqrt(2 * count * mpmath.log(1 / slack))
            return root * e_i + count * e_i * mpmath.expm1(e_i)

        value = min(advanced(e, d), advanced(at(d / (2 * count)), d / 2))
        oracles.assert_holds(ADVANCED.epsilon(composition, Fraction(goal), WIDTH), value, 1e-12)
        oracles.assert_holds(
            BASIC.epsilon(composition, Fraction(goal), WIDTH), count * at(d / count), 1e-12
        )
        rho = count * e * mpmath.tanh(e / 2)
        by_hand = zcdp_to_epsilon(oracles.exactly(rho), goal).value
        # both contain the same number
        oracles.assert_meet(ZCDP.epsilon(composition, Fraction(goal), WIDTH), by_hand)
    # randomized response cannot be improved upon
    assert KOV.epsilon(composition, Fraction(goal), WIDTH).contains(
        Fraction(composition.epsilon(goal).lower)
    )


def test_theorem7_is_reported_where_it_holds_only() -> None:
    faint = compose((AdditiveNoise(DiscreteLaplace(1000), 1), 40))
    with mpmath.workdps(40):
        value = 2 * mpf("0.001") * mpmath.sqrt(80 * mpmath.log(mpf(10) ** 6))
        share = Fraction(1, 80 * 10**6)
        odds = mpmath.exp(mpf("0.001"))
        e_i = mpmath.log(odds - oracles.real(share) * (1 + odds))
        other = 2 * e_i * mpmath.sqrt(80 * mpmath.log(2 * mpf(10) ** 6))
        found = THEOREM7.epsilon(faint, Fraction("1e-6"), WIDTH)
        oracles.assert_holds(found, min(value, other), 1e-12)
    (row,) = compare(compose((LAPLACE, 64)), "1e-6", names=["theorem7"])
    assert (row.value, row.remark) == (None, "stated for results below 1")
    with pytest.raises(DoesNotApplyError, match="stated for results below 1"):
        THEOREM7.delta(faint, Fraction(1), WIDTH)


def test_extremes_of_delta() -> None:
    composition = compose((LAPLACE, 4))
    values = {row.method.name: row.value for row in compare(composition, 0)}
    pure = composition.pure()
    for name in ("exact", "kov", "basic"):
        assert values[name] == pure, name
    assert values["rdp"] == Enclosure(0, pure.upper)
    assert values["zcdp"] == Enclosure.infinite()
    assert values["advanced"] is values["theorem7"] is None
    for name in ("exact", "kov", "rdp", "zcdp", "basic"):
        assert METHODS[name].epsilon(composition, Fraction(1), WIDTH) == Enclosure.exactly(0), name
    for name in ("exact", "kov", "rdp", "basic"):
        assert METHODS[name].delta(composition, Fraction("0.4"), WIDTH) == Enclosure.exactly(0), (
            name
        )


def test_revealing_mechanisms_have_no_curve() -> None:
    composition = compose((RandomizedResponse(1, "1e-9"), 10))
    assert RDP.epsilon(composition, Fraction("1e-6"), WIDTH) == Enclosure.infinite()
    assert RDP.epsilon(composition, Fraction(1), WIDTH) == Enclosure.exactly(0)
    assert RDP.delta(composition, Fraction(5), WIDTH) == Enclosure.exactly(1)
    (row,) = compare(composition, "1e-6", names=["zcdp"])
    assert row.value is None
    # less than what is revealed for certain
    values = {row.method.name: row.value for row in compare(composition, "1e-10")}
    assert values["exact"] == values["basic"] == Enclosure.infinite()
    assert values["kov"] == values["advanced"] == Enclosure.infinite()


def test_bad_input() -> None:
    composition = compose(LAPLACE)
    with pytest.raises(ParameterError, match="delta must be"):
        compare(composition, "1.5")
    with pytest.raises(ParameterError, match="method must be one of exact, kov"):
        compare(composition, "0.1", names=["moments"])


# -- the least delta at which a condition holds ---------------------------------------------------


@pytest.mark.parametrize("root", ["0.9999", "1/3", "2e-9", "7e-300", "3e-1500"])
@pytest.mark.parametrize("blur", ["0", "1e-20"])
def test_a_condition_with_one_crossing(root: str, blur: str) -> None:
    def report(delta: Fraction, width: Fraction) -> Enclosure:
        value = 1 / delta
        return Enclosure(value * (1 - Fraction(blur)), value * (1 + Fraction(blur)))

    at = Fraction(root)
    found = least_delta(report, 1 / at, WIDTH)
    assert found.contains(at)
    assert found.is_within(100 * WIDTH)


@pytest.mark.parametrize("root", ["0.02", "1e-40"])
@pytest.mark.parametrize("before", [Fraction(2), None, DoesNotApplyError("too small")])
def test_a_condition_that_jumps(root: str, before: Fraction | Exception | None) -> None:
    def report(delta: Fraction, width: Fraction) -> Enclosure:
        if delta >= Fraction(root):
            return Enclosure.exactly(Fraction(1, 4))
        if isinstance(before, Exception):
            raise before
        return Enclosure.infinite() if before is None else Enclosure.exactly(before)

    found = least_delta(report, Fraction(1), WIDTH)
    assert found.contains(Fraction(root))
    if isinstance(before, Exception):  # then nothing proves that less would not do
        assert found.lower == 0
        assert found.upper <= Fraction(root) * (1 + 10 * WIDTH)
    else:
        assert found.is_within(10 * WIDTH)


def test_conditions_that_never_hold_or_always() -> None:
    never = least_delta(lambda delta, width: Enclosure.exactly(2), Fraction(1), WIDTH)
    assert never == Enclosure.exactly(1)
    always = least_delta(lambda delta, width: Enclosure.exactly(0), Fraction(1), WIDTH)
    assert always.lower == 0
    assert always.upper < Fraction(1, 10**2000)
