"""The search for counterexamples: it finds what is there, claims nothing beyond, and is fixed."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb
from oracles import discrete_gaussian

from exactdp import ZCDP, ApproxDP, Enclosure, ParameterError, PureDP, RenyiDP, UndecidedError
from exactdp.exact.precision import refine
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussianSum, DiscreteLaplace, PolyaDifference
from exactdp.mechanisms.additive.papers import theorem6
from exactdp.verify.search import Axis, Compared, between, claimed, search, whole_numbers


def laplace(at):
    return AdditiveNoise(DiscreteLaplace(at["scale"]), sensitivity=1)


def listed(values, bound=1):
    """A question whose answers are known: the value at index i."""

    def ask(point, width):
        value = values[int(point["i"])]
        if isinstance(value, Exception):
            raise value
        low, high = value if isinstance(value, tuple) else (value, value)
        return Compared(Enclosure(Fraction(low), Fraction(high)), Enclosure.exactly(bound))

    return whole_numbers("i", 0, len(values) - 1), ask


def test_the_naive_bound_for_sums_of_discrete_gaussians_is_violated():
    result = search(
        [whole_numbers("count", 4, 8)],
        claimed(
            lambda at: AdditiveNoise(DiscreteGaussianSum(at["count"], "1/4"), sensitivity=1),
            lambda at: RenyiDP(2, 4 / at["count"]),
        ),
        seconds=60,
    )
    assert result.violation is not None
    count = int(result.violation.point["count"])
    with mpmath.workdps(30):  # the divergence by brute force
        share = discrete_gaussian("1/4")
        law = {0: mpmath.mpf(1)}
        for _ in range(count):
            summed = {}
            for x, mass in law.items():
                for y in range(-9, 10):
                    summed[x + y] = summed.get(x + y, mpmath.mpf(0)) + mass * share(y)
            law = summed
        reach = range(-15, 16)
        truth = mpmath.log(mpmath.fsum(law[x] ** 2 / law[x - 1] for x in reach))
        found = result.violation.compared
        assert truth > mpmath.mpf(4) / count
        assert mpmath.mpf(str(found.measured.lower)) <= truth * (1 + mpmath.mpf(10) ** -9)
        assert mpmath.mpf(str(found.measured.upper)) >= truth * (1 - mpmath.mpf(10) ** -9)
    assert result.violation.ratio.greater_than(1) is True


@pytest.mark.parametrize(
    "claim",
    [
        lambda at: PureDP(1 / at["scale"] + Fraction(1, 10**6)),
        lambda at: ApproxDP(1 / at["scale"] + Fraction(1, 10**6), "1e-9"),
        lambda at: RenyiDP(2, 1 / at["scale"] ** 2),
        lambda at: ZCDP(1 / (2 * at["scale"] ** 2)),
    ],
)
def test_a_true_claim_is_never_violated(claim):
    axis = between("scale", 1, 3, 4)
    result = search([axis], claimed(laplace, claim), seconds=60)
    assert result.violation is None and result.is_exhausted
    assert result.undecided == () and result.unmeasured == ()
    assert result.largest.at_most(1) is True


def test_a_claim_off_by_1e_9_is_found():
    axis = Axis("scale", [1, 2])
    low = claimed(laplace, lambda at: PureDP(1 / at["scale"] * (1 - Fraction(1, 10**9))))
    assert search([axis], low, seconds=60).violation is not None
    high = claimed(laplace, lambda at: PureDP(1 / at["scale"] * (1 + Fraction(1, 10**9))))
    assert search([axis], high, seconds=60).violation is None


def tail_bound(law, threshold, level):
    """Is P(|X| > threshold) at most the level? All of the point."""
    return lambda at, width: Compared(
        law(at).two_sided_tail(threshold(at), width), refine(lambda: level(at), width=width)
    )


def test_the_largest_ratio_is_enclosed():
    axis, ask = listed(["0.25", ("0.5", "0.6"), ("0.55", "0.58"), "0.1"])
    result = search([axis], ask, seconds=60)
    assert (result.largest.lower, result.largest.upper) == (Fraction("0.55"), Fraction("0.6"))
    assert result.closest.point["i"] == 2


def test_undecided_and_unmeasured_points_are_told():
    axis, ask = listed(["0.5", ("0.9", "1.1"), UndecidedError("too hard"), 1])
    result = search([axis], ask, seconds=60)
    assert result.violation is None and result.covered == result.total == 4
    assert [visited.point["i"] for visited in result.undecided] == [1]
    assert [(point["i"], why) for point, why in result.unmeasured] == [(2, "too hard")]


def test_a_bound_of_zero():
    axis, ask = listed([0, 0], bound=0)
    assert search([axis], ask, seconds=60).violation is None
    axis, ask = listed([0, "1e-30"], bound=0)
    found = search([axis], ask, seconds=60).violation
    assert found.point["i"] == 1 and not found.ratio.is_finite()


def test_the_budget_decides_the_coverage_and_nothing_else():
    axis, ask = listed([f"0.{i:03}" for i in range(1, 101)])
    now = [0.0]

    def clock():
        now[0] += 1
        return now[0]

    part = search([axis], ask, seconds=10, clock=clock)
    assert part.covered == 10 and not part.is_exhausted
    visited = []

    def told(point, width):
        visited.append(int(point["i"]))
        return ask(point, width)

    search([axis], told, seconds=60)
    best = max(visited[:10])
    assert part.largest.lower == Fraction(f"0.{best + 1:03}")
    assert search([axis], ask, seconds=0).covered == 1


def test_axes():
    assert between("x", 0, 1, 3).values == (0, Fraction(1, 2), 1)
    assert whole_numbers("n", 2, 7, 2).values == (2, 4, 6)
    axis, ask = listed(["0.5"])
    with pytest.raises(ParameterError, match="x"):
        Axis("x", [])
    with pytest.raises(ParameterError, match="x, high"):
        between("x", 1, 1, 3)
    with pytest.raises(ParameterError, match="distinct"):
        search([axis, axis], ask, seconds=1)
    with pytest.raises(ParameterError, match="distinct"):
        search([], ask, seconds=1)
    with pytest.raises(ParameterError, match="seconds"):
        search([axis], ask, seconds=-1)
    with pytest.raises(ParameterError, match="grid"):
        search([whole_numbers("i", 1, 10**4), whole_numbers("j", 1, 10**4)], ask, seconds=1)


def test_theorem_6_s_accuracy_is_found_too_small():
    horizon = 10**6
    question = tail_bound(
        lambda at: PolyaDifference(at["n"], theorem6("1/2", at["n"], horizon).precision * 2),
        lambda at: theorem6("1/2", at["n"], horizon).accuracy,
        lambda at: 1 / arb(horizon),
    )
    found = search([Axis("n", [16, 8, 4, 2])], question, seconds=60).violation
    assert found.point["n"] == 4 and found.ratio.greater_than(3) is True
    assert search([Axis("n", [16, 8])], question, seconds=60).violation is None
