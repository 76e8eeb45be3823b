"""Gaussian DP: everything costs at most what the Gaussian pair costs that dominates it.

Sources: Dong, Roth, Su (JRSS B 2022), Corollary 2.13 and Corollary 3.3, and post-processing.
"""

import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
from conformance.relations.draw import EPSILONS, ORDERS, additive, any_spec, scenario, small, times
from conformance.relations.engine import AtMost, Held, Statement, in_python
from conformance.relations.notions import at_most
from conformance.relations.scenarios import Cost, Scenario
from mpmath import mpf

_DIGITS = 60
_ROUNDING = Fraction(1, 10**40)


def everything_below_its_gaussian(rng: random.Random) -> Iterator[Statement]:
    """Of any mechanisms."""
    yield from below_its_gaussian(rng, scenario(rng))


def below_its_gaussian(rng: random.Random, what: Scenario) -> Iterator[Statement]:
    """mu-GDP is (mu^2/2)-zCDP, (a, a mu^2/2)-RDP, and (epsilon, delta)-DP as N(mu, 1) is."""
    found = in_python(Cost(what, "gdp"))
    if found.upper == Decimal("Infinity"):
        return
    mu = Fraction(found.upper)
    yield AtMost(Cost(what, "zcdp"), at_most(mu**2 / 2), f"rho <= mu^2/2, mu = {found}")
    order = Fraction(rng.choice(ORDERS))
    yield AtMost(Cost(what, "renyi", order), at_most(order * mu**2 / 2), f"D_a, mu = {found}")
    level = Fraction(rng.choice(EPSILONS))
    yield AtMost(Cost(what, "delta", level), at_most(_delta(mu, level)), f"delta, mu = {found}")


def pure_bounds_mu(rng: random.Random) -> Iterator[Statement]:
    """An epsilon-DP mechanism tells no more than randomized response: mu <= 2 z(1/(1 + e^-e))."""
    what = scenario(rng)
    pure = in_python(Cost(what, "pure"))
    if not pure.is_finite() or pure.upper > 200:
        return
    with mpmath.workdps(_DIGITS + 100):
        e = _real(Fraction(pure.upper))
        most = 2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.tanh(e / 2))
        limit = _fraction(most) * (1 + _ROUNDING) + _ROUNDING
    yield AtMost(Cost(what, "gdp"), at_most(limit), f"mu from pure epsilon {pure}")


def mu_grows(rng: random.Random) -> Iterator[Statement]:
    """With the sensitivity, with another use; not by a reduction mod m, nor by sampling."""
    few = Scenario.of((any_spec(rng), times(rng)))
    one = Cost(few, "gdp")
    yield AtMost(one, Cost(few.plus(any_spec(rng)), "gdp"), "a use is added")
    noise = additive(rng, modulus=True) if rng.random() < 0.5 else small(rng)
    cost = Cost(Scenario.of(noise), "gdp")
    if "modulus" in noise:
        plain = Cost(Scenario.of(noise.but(modulus=None)), "gdp")
        yield AtMost(cost, plain, "reduced")
    less = noise.but(sensitivity=max(int(noise["sensitivity"]) - 1, 1))
    yield AtMost(Cost(Scenario.of(less), "gdp"), cost, "sensitivity grows")
    every = noise.but(neighbours="add-remove")
    some = Cost(Scenario.of(every.but(poisson="1/10")), "gdp")
    yield AtMost(some, Cost(Scenario.of(every), "gdp"), "sampled")


def several_uses(rng: random.Random) -> Iterator[Statement]:
    """mu^2 of K uses is at most K times that of one, and mu at least that of one."""
    one, count = any_spec(rng), times(rng)
    each, all_uses = (in_python(Cost(Scenario.of((one, k)), "gdp")) for k in (1, count))
    yield AtMost(each, all_uses, f"{count} uses of {one}")
    if each.is_finite():
        square = count * Fraction(each.upper) ** 2
        told = all_uses.upper == Decimal("Infinity") or Fraction(all_uses.lower) ** 2 <= square
        yield Held(told, f"mu^2 adds up at most: {count} uses of {one}", (str(each), str(all_uses)))


def _delta(mu: Fraction, level: Fraction) -> Fraction:
    """delta(level) of N(mu, 1) against N(0, 1), rounded up."""
    if not mu:
        return Fraction(0)
    with mpmath.workdps(_DIGITS):
        m, e = _real(mu), _real(level)
        if abs(place := m / 2 - e / m) > 10**6:  # beyond what erfc is made for: at most Phi(-10^6)
            return Fraction(1) if place > 0 else Fraction(1, 10**1000)
        near, far = mpmath.ncdf(place), mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        # each is right to about 60 digits; the rest is for what cancels
        return min(
            max(_fraction(near - far), Fraction(0)) + _fraction(near) * _ROUNDING, Fraction(1)
        )


def _real(number: Fraction) -> Any:
    return mpf(number.numerator) / number.denominator


def _fraction(number: Any) -> Fraction:
    sign, man, exp, _ = number._mpf_
    return (-1) ** sign * Fraction(int(man)) * Fraction(2) ** exp


RELATIONS = (everything_below_its_gaussian, pure_bounds_mu, mu_grows, several_uses)
