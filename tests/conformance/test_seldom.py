"""Bounds that few lists of releases reach hold, against truth by hand.

They are used where a law, a rate or a size leaves no other; a row drawn at random seldom does.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import oracles
import pytest
from conformance import truth
from conformance.continuous import Mixed
from flint import arb
from mpmath import mpf

import exactdp
from exactdp import Enclosure, ParameterError
from exactdp.accounting.composition.group import group_epsilons
from exactdp.accounting.composition.known import quick_figures
from exactdp.accounting.divergences.concentrated import _largest_curvature, _search, _Sums
from exactdp.accounting.divergences.conversion import renyi_to_epsilon
from exactdp.accounting.divergences.renyi_sums import moments
from exactdp.accounting.figure import Figure
from exactdp.accounting.losses.of_pair import listed_law, two_way
from exactdp.accounting.methods.classical import Each, theorem7
from exactdp.accounting.methods.comparison import compare
from exactdp.accounting.participation.choices import Choices, Offer
from exactdp.accounting.solve import Query, cost, measured_or_implied
from exactdp.evidence.papers.appendix_i import optimal_share
from exactdp.evidence.rounding_cost import rounding_cost
from exactdp.exact import WIDTH, working_precision
from exactdp.exact.errors import DoesNotApplyError
from exactdp.mechanisms import RandomRate
from exactdp.mechanisms.laws import PolyaDifference
from exactdp.mechanisms.mechanism import OneWay
from exactdp.mechanisms.pairs.pair import FinitePair, ShiftPair
from exactdp.mechanisms.selection.candidates import raised

_OF_ORDER_3 = Query(Figure("renyi", Fraction(3)), WIDTH, 1000)


@pytest.mark.slow
def test_a_group_of_two_costs_what_both_rounded_numbers_move() -> None:
    """Each user's 3/2 may be rounded to 2, so that two users move a count by 4."""
    spec = "skellam:variance=9,l2=3/2,dimension=1,rounding=nearest,neighbours=add-remove"
    found = group_epsilons(exactdp.compose(spec), [2], "1/10")[0]
    truth = exactdp.compose("skellam:variance=9,sensitivity=4").epsilon("1/10")
    assert Fraction(found.upper) >= Fraction(truth.lower)


@pytest.mark.slow
@pytest.mark.contract
def test_a_thousand_rare_uses_cost_more_than_one() -> None:
    """A user takes part once with probability above 0.0009, and is then seen for certain.

    Some output above 1/2 has at least that probability with the user, and without at most 1000
    e^-1250: so delta(1000) > 1e-5, though one use alone has epsilon 0 at this delta.
    """
    spec = "gaussian:sigma=1/100,neighbours=add-remove,poisson=1/1000000*1000"
    assert exactdp.compose(spec).epsilon("1e-5").upper > 1000


@pytest.mark.contract
def test_sums_of_very_many_terms_still_tell_something() -> None:
    """A shift of 1 is seen as often as the likeliest outcome has mass.

    By Chebyshev three quarters of the mass lie within two standard deviations of 0, of which the
    variance of the terms is below sigma2 each: on at most 4 sqrt(count sigma2) + 1 outcomes.
    """
    found = exactdp.compose("discrete-gaussian-sum:count=1e51,sigma2=1/4*3").delta(0)
    assert oracles.exactly(mpf(3) / 4 / (4 * mpmath.sqrt(mpf(10) ** 51 / 4) + 1)) <= found.upper


def test_a_rate_that_is_told_is_known_on_the_whole() -> None:
    """Half of the uses at 1/2 and half at 1/10 cost at least what uses at their mean 3/10 do."""
    (use,) = exactdp.mechanism("gaussian:sigma=1,neighbours=add-remove").uses
    rates = RandomRate(use.mechanism, (("1/2", "1/2"), ("1/2", "1/10")))
    assert rates.rate == Fraction(3, 10)
    mean = exactdp.mechanism("gaussian:sigma=1,neighbours=add-remove,poisson=3/10").delta(1)
    assert Fraction(exactdp.compose(rates).delta(1).upper) >= Fraction(mean.lower)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 10), Fraction(2)])
def test_raised_pairs_dominate_what_lies_between_them(epsilon: Fraction) -> None:
    """At the middle of a cell a fair coin between both ends has the larger p and the smaller q."""
    ends = [[Fraction(mass.mid().str(30, radius=False)) for mass, _ in one.masses()]
            for one in raised(epsilon, 16)]  # fmt: skip
    span = oracles.real(epsilon)
    for part, ((p, q), (other_p, other_q)) in enumerate(pairwise(ends), 1):
        t = span * (2 * part + 1) / 32
        truth = mpmath.expm1(t - span) / mpmath.expm1(-span)
        assert (p + other_p) / 2 >= oracles.exactly(truth)
        assert (q + other_q) / 2 <= oracles.exactly(truth * mpmath.exp(-t))


def test_what_pure_epsilon_tells_of_a_divergence_is_an_upper_bound() -> None:
    """Where nothing else is known; epsilon is 6, the divergence that of the closed form."""
    laplace = exactdp.compose("laplace:scale=1/2*3")
    found = measured_or_implied(laplace.uses, _OF_ORDER_3, Enclosure.unknown)
    once = mpmath.log(mpf(3) / 5 * mpmath.exp(4) + mpf(2) / 5 * mpmath.exp(-6)) / 2
    assert oracles.exactly(3 * once) <= found.upper


def test_what_pure_epsilon_tells_is_what_randomized_response_attains() -> None:
    """That no mechanism of this pure epsilon exceeds it is all that is told; one bit is as dear."""
    one_bit = exactdp.compose("one-bit-mean:epsilon=1")
    found = measured_or_implied(one_bit.uses, _OF_ORDER_3, Enclosure.unknown)
    p = 1 / (1 + mpmath.exp(-1))
    assert oracles.exactly(mpmath.log(p**3 / (1 - p) ** 2 + (1 - p) ** 3 / p**2) / 2) <= found.upper


def test_a_pure_epsilon_of_one_order_alone_bounds_neither_rho_nor_delta_as_both_do() -> None:
    """(1, 0) against (1/2, 1/2): the loss is log 2 for certain; delta(1/2) is 1 - e^(1/2)/2."""
    pair = FinitePair(("yes", "no"), (1, 0), (Fraction(1, 2), Fraction(1, 2)))
    known = quick_figures(exactdp.compose(OneWay(pair)).uses, cost, ())
    half = Fraction(1, 2)
    truths = {Figure("zcdp"): mpmath.log(2), Figure("delta", half): 1 - mpmath.exp(half) / 2}
    for figure, value in truths.items():
        assert oracles.exactly(value) <= known.of(figure).upper


@pytest.mark.contract
def test_one_of_two_steps_at_random_costs_what_an_integral_says() -> None:
    """P/Q = (r(x) + r(y))/2; the integral over y has a closed form, as a call option has."""
    with mpmath.workdps(30):
        odds = mpmath.exp(mpf(1) / 2)

        def above(x: mpf) -> mpf:
            short = odds - mpmath.exp(x - mpf(1) / 2) / 2
            if short <= 0:
                return mpmath.npdf(x) * (mpf(1) / 2 - short)
            z = mpmath.log(2 * short) + mpf(1) / 2
            return mpmath.npdf(x) * (mpmath.ncdf(1 - z) / 2 - short * mpmath.ncdf(-z))

        most = mpmath.log(2 * odds) + mpf(1) / 2
        removing = oracles.exactly(mpmath.quad(above, [-14, 0, most, most + 2, 16]))
    found = exactdp.compose("gaussian:sigma=1,neighbours=add-remove,allocation=1/2").delta("1/2")
    assert found.lower <= removing <= found.upper
    assert found.is_within(Fraction(1, 10**12))


@pytest.mark.slow
@pytest.mark.contract
def test_batches_of_a_fixed_size_of_wide_noise_cost_what_a_gaussian_does() -> None:
    """The noise is so wide that whole numbers make no difference; from below as Poisson batches."""
    spec = "discrete-gaussian:sigma2=1e10,sensitivity=100000,fixed-size=1/2*2"
    found = exactdp.compose(spec).delta(1)
    once = Mixed(truth.Gaussian(Fraction(1)), Fraction(1, 2))
    removing = Fraction(float(once.twice().delta(mpf(1))))
    assert Fraction(found.lower) <= removing * (1 + Fraction(1, 10**6))
    assert removing * (1 - Fraction(1, 10**6)) <= Fraction(found.upper)


@pytest.mark.contract
def test_the_exponential_mechanism_once_costs_its_dearest_pair() -> None:
    """Losses t and t - e: the first has probability p = (1 - e^(t - e))/(1 - e^-e)."""
    e, level = mpf(10), mpf(1)
    best = max(
        mpmath.expm1(t - e) / mpmath.expm1(-e) * -mpmath.expm1(level - t)
        for t in ((e + level) / 2 + mpf(k) / 100 for k in range(-100, 101))
    )
    oracles.assert_holds(exactdp.compose("exponential:epsilon=10").delta(1), best, 1e-12)


def test_slack_of_several_tables_adds_up() -> None:
    """Of either column a tenth lies elsewhere, where the other one has nothing."""
    names, p, q = ("a", "b"), ("1/2", "49/100"), ("2/5", "59/100")
    rough, fine = (FinitePair(names, p, q, slack) for slack in ("1/10", "1/100"))
    here = ((".5", ".3"), (".4", ".6"), (".1", "0"), ("0", ".1"))
    both = product(here, ((".5", ".4"), (".5", ".6")))
    ways = [[Fraction(a) * Fraction(b) for a, b in zip(*each, strict=True)] for each in both]
    apart = sum((max(one - other, Fraction(0)) for one, other in ways), Fraction(0))
    assert apart <= exactdp.compose(fine, rough).delta(0).upper
    assert apart <= exactdp.compose(rough, fine).delta(0).upper


def test_what_theorem_7_says_of_a_delta_near_1_is_refused() -> None:
    """It says 0.9; yet all but e^-1000 of the losses, near 500 +- 10, are above 10."""
    with pytest.raises(DoesNotApplyError, match="false"):
        theorem7([Each("0.1", 0, 10_000)], "0.999")


def test_names_of_no_method_and_rounding_to_no_delta_are_refused() -> None:
    one = exactdp.compose("randomized-response:epsilon=1")
    with pytest.raises(ParameterError, match="nothing"):
        compare(one, "1e-6", names=["exact", "nothing"])
    with pytest.raises(ParameterError, match="delta"):
        rounding_cost(16, delta=1)
    assert len(one.tradeoff().alphas) == 101  # 100 points, and 1


def test_the_share_of_one_batch_is_as_by_hand() -> None:
    # delta = d + (1 - d) (e^share - e)/(e^share + 1), of which d is half
    part = 1 / (2 * mpf(10) ** 6 - 1)  # d/(1 - d)
    found = optimal_share(Fraction(1), Fraction(1, 10**6), 1)
    assert found.lower <= oracles.exactly(mpmath.log((mpmath.e + part) / (1 - part))) <= found.upper


def test_the_dearest_choice_of_one_batch_is_exact_and_of_two_a_bound() -> None:
    offers = [Offer(exactdp.compose(one), 1) for one in ("gaussian:sigma=1", "laplace:scale=1")]
    assert Choices(offers, 1).zcdp() == Enclosure.exactly(Fraction(1, 2))
    assert Choices(offers, 2).zcdp().lower == 0


@pytest.mark.parametrize("log_tail", [-1.0, -8.0])
def test_what_is_left_out_beyond_a_window_is_not_forgotten(log_tail: float) -> None:
    """Masses of noise that is not log-concave fall more slowly than a geometric series."""
    with working_precision(128):
        found = listed_law(ShiftPair(PolyaDifference("1/10", 2), 1), log_tail)
        assert not sum(found.masses, found.escaping() + found.missing()) < 1


def test_the_curvature_of_a_cumulant_is_bounded_where_one_end_is_far_higher() -> None:
    """Losses 7 and -6 of weights 1 and 10^6: K'' = 169 p (1 - p)."""

    def ends(x: int) -> tuple[arb, arb, arb]:
        up, down = arb(7 * x).exp(), 10**6 * arb(-6 * x).exp()
        return up + down, 7 * up - 6 * down, 49 * up + 36 * down

    p = 1 / (1 + mpf(10) ** 6 * mpmath.exp(-13))
    with working_precision(128):
        assert _largest_curvature(arb(1), ends(0), ends(1)) > float(169 * p * (1 - p))


def test_where_no_order_is_known_rho_may_be_anything() -> None:
    unknown = _Sums(lambda _: [arb.nan()] * 3, lambda _: arb(1))
    assert not _search([(unknown, 1)]).value.is_finite()


def test_outcomes_that_are_hardly_known_may_tell_all_that_they_allow() -> None:
    """p is in 0.5 +- 0.1, and so is q: at most 0.4 (1.5^3 - 1.5) (1 - 1.5^-3)."""
    vague = arb(0.5, 0.1)
    assert moments(*two_way([vague], [(vague / vague).log()], arb(0)), arb(3), 0)[0].upper() > 1.5


def test_a_curve_that_is_infinite_beyond_some_order_is_converted_before_it() -> None:
    """At order 3/2, nearly: epsilon falls up to there."""

    def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
        return [
            Enclosure.exactly(order / 1000) if order <= Fraction(3, 2) else Enclosure.infinite()
            for order in orders
        ]

    found = renyi_to_epsilon(curve, "1e-6").value
    truth = mpf("0.0015") - 2 * mpmath.log(mpf("1.5e-6")) - mpmath.log(3)
    assert found.lower <= oracles.exactly(truth) <= found.upper
    assert found.is_within(Fraction(1, 10))
