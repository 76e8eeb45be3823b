"""What one notion of privacy says of another, of the same scenario.

Sources: Bun and Steinke (TCC 2016), Propositions 1.4 and 3.3; Mironov (CSF 2017), Propositions 3
and 9; van Erven and Harremoës (2014) for the limits of Rényi divergences.
"""

import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from conformance.relations.draw import DELTAS, EPSILONS, ORDERS, level, scenario, table, times
from conformance.relations.engine import AtMost, Held, Statement, in_python
from conformance.relations.scenarios import Cost, Scenario, pmf
from mpmath import iv

from exactdp import Enclosure

_ANYTHING = Decimal("Infinity")


def at_most(upper: Fraction | Decimal) -> Enclosure:
    """Everything from 0 to here."""
    return Enclosure(Fraction(0), upper)


def rational(number: Any, end: str) -> Fraction:
    """This end ("a" or "b") of an interval of mpmath, exactly."""
    sign, man, exp, _ = number._mpi_[0 if end == "a" else 1]
    return (-1) ** sign * Fraction(int(man)) * Fraction(2) ** exp


def everything_below_pure(rng: random.Random) -> Iterator[AtMost]:
    """Of any mechanisms."""
    yield from everything_below_pure_of(rng, scenario(rng))


def everything_below_pure_of(rng: random.Random, what: Scenario) -> Iterator[AtMost]:
    """epsilon(delta), Rényi divergences and rho are at most the pure epsilon."""
    pure = Cost(what, "pure")
    yield AtMost(Cost(what, "epsilon", level(rng, what)), pure, "epsilon(delta) <= epsilon(0)")
    yield AtMost(Cost(what, "renyi", Fraction(rng.choice(ORDERS))), pure, "Rényi <= pure")
    yield AtMost(Cost(what, "zcdp"), pure, "rho <= sup of D/order <= pure")


def pure_bounds(rng: random.Random) -> Iterator[AtMost]:
    """rho <= epsilon^2/2, D_a <= a epsilon^2/2, delta(epsilon) = 0, delta(0) <= tanh(epsilon/2)."""
    what = scenario(rng)
    pure = in_python(Cost(what, "pure"))
    if not pure.is_finite():
        return
    epsilon = Fraction(pure.upper)
    half = at_most(epsilon**2 / 2)
    yield AtMost(Cost(what, "zcdp"), half, f"rho <= epsilon^2/2, epsilon = {pure}")
    order = Fraction(rng.choice(ORDERS))
    yield AtMost(
        Cost(what, "renyi", order), at_most(order * epsilon**2 / 2), "D_a <= a epsilon^2/2"
    )
    yield AtMost(Cost(what, "delta", epsilon), Enclosure.exactly(0), "delta(pure) = 0")
    if epsilon < 1000:
        odds = iv.exp(iv.mpf(epsilon.numerator) / epsilon.denominator)
        farthest = rational((odds - 1) / (odds + 1), "b")
        yield AtMost(Cost(what, "delta", Fraction(0)), at_most(farthest), "distance <= tanh")


def rho_is_the_largest_share(rng: random.Random) -> Iterator[AtMost]:
    """rho = sup over orders of D_a/a."""
    what = scenario(rng)
    rho = in_python(Cost(what, "zcdp"))
    order = Fraction(rng.choice(ORDERS))
    if rho.is_finite():
        limit = at_most(Fraction(rho.upper) * order)
        yield AtMost(Cost(what, "renyi", order), limit, f"D_a <= a rho, rho = {rho}")


def renyi_bounds_epsilon(rng: random.Random) -> Iterator[AtMost]:
    """epsilon(delta) <= D_a + log(1/delta)/(a - 1)."""
    what = scenario(rng)
    order, delta = Fraction(rng.choice(ORDERS)), Fraction(rng.choice(DELTAS))
    divergence = in_python(Cost(what, "renyi", order))
    if not divergence.is_finite() or not delta:
        return
    doubt = -rational(iv.log(iv.mpf(delta.numerator) / delta.denominator), "a")
    limit = at_most(max(Fraction(divergence.upper) + doubt / (order - 1), Fraction(0)))
    yield AtMost(Cost(what, "epsilon", delta), limit, f"epsilon(delta) from D_a = {divergence}")


def inverse(rng: random.Random) -> Iterator[Statement]:
    """delta(epsilon) <= delta if and only if epsilon(delta) <= epsilon."""
    what = scenario(rng)
    delta = level(rng, what)
    found = in_python(Cost(what, "epsilon", delta))
    yield Held(delta < 1 or found.upper == 0, "nothing is needed for delta = 1", (str(what), found))
    if isinstance(found.upper, Fraction) or found.upper.is_finite():
        above = Fraction(found.upper)
        yield AtMost(Cost(what, "delta", above), at_most(delta), f"delta({found}) <= {delta}")
    if found.lower != _ANYTHING and found.lower > 0:
        below = Fraction(found.lower)
        cost = Cost(what, "delta", below * (1 - Fraction(1, 10**9)))
        yield AtMost(Enclosure.exactly(delta), cost, f"below epsilon({delta}) = {found}")
    elif found.lower == _ANYTHING:
        cost = Cost(what, "delta", Fraction(rng.choice(EPSILONS)))
        yield AtMost(Enclosure.exactly(delta), cost, f"no epsilon reaches {delta}")


def renyi_reaches_pure(rng: random.Random) -> Iterator[AtMost]:
    """Pair by pair D_a >= (a log(p/q) + log q)/(a - 1) at every outcome, so D_a -> pure."""
    found, count = table(rng), min(times(rng), 20)
    what = Scenario.of((pmf(found), count))
    order = Fraction(rng.choice(ORDERS))
    masses = [mass for mass in found.p + found.q if mass]
    rarest = Fraction(min(masses)) ** count
    renyi = in_python(Cost(what, "renyi", order))
    if renyi.is_finite():
        doubt = -rational(iv.log(iv.mpf(rarest.numerator) / rarest.denominator), "a")
        limit = (Fraction(renyi.upper) * (order - 1) + doubt) / order
        yield AtMost(Cost(what, "pure"), at_most(limit), f"pure from D_a = {renyi}, a = {order}")


RELATIONS = (
    everything_below_pure,
    pure_bounds,
    rho_is_the_largest_share,
    renyi_bounds_epsilon,
    inverse,
    renyi_reaches_pure,
)
