"""Bounds that few lists of releases reach hold, against truth by hand.

They are used where a law, a rate or a size leaves no other; a row drawn at random seldom does.
"""

from fractions import Fraction
from itertools import pairwise

import mpmath
import oracles
import pytest
from mpmath import mpf

import exactdp
from exactdp import Enclosure
from exactdp.accounting.composition.group import group_epsilon
from exactdp.mechanisms import RandomRate
from exactdp.mechanisms.selection import AnyScores, Raised


@pytest.mark.slow
def test_a_group_of_two_costs_what_both_rounded_numbers_move() -> None:
    """Each user's 3/2 may be rounded to 2, so that two users move a count by 4."""
    spec = "skellam:variance=9,l2=3/2,dimension=1,rounding=nearest,neighbours=add-remove"
    found = group_epsilon(exactdp.compose(spec), 2, "1/10")
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
    raised = [one for one in AnyScores(epsilon, 16, attained=False).pairs()
              if isinstance(one, Raised)]  # fmt: skip
    ends = [[Fraction(mass.mid().str(30, radius=False)) for mass, _ in one.masses()]
            for one in raised]  # fmt: skip
    span = oracles.real(epsilon)
    for part, ((p, q), (other_p, other_q)) in enumerate(pairwise(ends), 1):
        t = span * (2 * part + 1) / 32
        truth = mpmath.expm1(t - span) / mpmath.expm1(-span)
        assert (p + other_p) / 2 >= oracles.exactly(truth)
        assert (q + other_q) / 2 <= oracles.exactly(truth * mpmath.exp(-t))


@pytest.mark.contract
def test_what_pure_epsilon_tells_of_a_divergence_is_an_upper_bound() -> None:
    """Where nothing else is known; epsilon is 6, the divergence that of the closed form."""
    laplace = exactdp.compose("laplace:scale=1/2*3")
    found = laplace._renyi_at(Fraction(3), Enclosure.unknown(), 1000)
    once = mpmath.log(mpf(3) / 5 * mpmath.exp(4) + mpf(2) / 5 * mpmath.exp(-6)) / 2
    assert oracles.exactly(3 * once) <= found.upper
