"""What can be claimed: of each kind its numbers, its words, and what shows that it is met or not.

A kind of claim is one row of `NOTIONS`; whatever reads, describes and checks certificates asks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from mpmath import iv

from . import composition, concentrated, divergences
from .arithmetic import INFINITY, End
from .concentrated import Cover
from .continuous import closed_profile
from .gaussian_dp import gaussian_mu
from .guarantees import delta_at_most
from .hints import Hints
from .mechanisms import Allocation, Continuous, Curve, Key, Mechanism
from .scenarios import Uses
from .shuffled import Shuffled

_USUAL = Fraction(2)  # order


Numbers: TypeAlias = Mapping[str, Fraction]
Covered: TypeAlias = Callable[[Cover], bool]  # is it, by orders that are named?
Figure: TypeAlias = Callable[[Uses, Numbers, End, bool, Hints, Covered], bool]


@dataclass(frozen=True)
class Notion:
    """A kind of claim.

    bounded: the name of the number that must not be exceeded. proves: is that number of one
    scenario at most this end, or at least? False: these choices do not show it.
    """

    numbers: tuple[str, ...]
    words: str
    proves: Figure
    bounded: str = "epsilon"


def _pure(uses: Uses, numbers: Numbers, end: End, above: bool, by: Hints, _: Covered) -> bool:
    return _is_within(_total(uses, lambda one: divergences.pure(one, above, by.listed)), end, above)


def _renyi(
    uses: Uses, numbers: Numbers, end: End, above: bool, by: Hints, covered: Covered
) -> bool:
    order = numbers["order"]
    found = _total(uses, lambda one: divergences.renyi(one, order, above, by.listed))
    return _is_within(found, end, above)


def _gaussian(
    uses: Uses, numbers: Numbers, end: End, above: bool, by: Hints, covered: Covered
) -> bool:
    return _is_within(gaussian_mu(uses, above, by.order or _USUAL), end, above)


def _zcdp(uses: Uses, numbers: Numbers, end: End, above: bool, by: Hints, covered: Covered) -> bool:
    if above:
        return concentrated.rho_at_most(uses, end, by.listed, covered)
    return concentrated.rho_at_least(uses, end, by.order or Fraction(1), by.listed)


def _approx(
    uses: Uses, numbers: Numbers, end: End, above: bool, by: Hints, covered: Covered
) -> bool:
    """epsilon(delta) <= e if and only if delta(e) <= delta."""
    goal = numbers["delta"]
    if goal == 0:
        return _pure(uses, numbers, end, above, by, covered)
    found = delta(uses, end, goal, above, by)
    return found <= goal if above else found > goal


def delta(uses: Uses, level: End, goal: Fraction, above: bool, by: Hints) -> End:
    """delta(level) of one scenario, about `goal`."""
    if any(isinstance(one, Curve) for one, _ in uses):
        if not above:
            return Fraction(0)
        order = by.order or _USUAL
        spent = _total(uses, lambda one: divergences.renyi(one, order, True, by.listed))
        return delta_at_most(level, spent, order)
    one, times = uses[0] if uses else (None, 0)
    alone = len(uses) == times == 1
    if alone and isinstance(one, Shuffled):
        return (one.at_most if above else one.at_least)(level, goal)
    if alone and isinstance(one, Key) and isinstance(one.noise, Continuous):
        plain = closed_profile([(one.among_others, 1)])  # of a key, of both kinds
        assert plain is not None
        return max(plain(level)[above], divergences.alone(one).delta(level)[above])
    if (closed := closed_profile(uses)) is not None:
        return closed(level)[above]
    if alone and one is not None and not isinstance(one, Allocation):
        bits = 0.6 * iv.prec + goal.denominator.bit_length() - goal.numerator.bit_length()
        return divergences.delta(one, level, bits, above, by.listed)
    return composition.delta(uses, level, goal, by.step, above, by.listed)


def _total(uses: Uses, cost: Callable[[Mechanism], End]) -> End:
    """What one scenario costs, of a cost that adds up."""
    each = [(times, cost(one)) for one, times in uses]
    if any(spent == INFINITY for _, spent in each):
        return INFINITY
    return sum((times * Fraction(spent) for times, spent in each), Fraction(0))


def _is_within(found: End, end: End, above: bool) -> bool:
    return found <= end if above else found >= end


NOTIONS = {
    "pure": Notion(("epsilon",), "({epsilon}, 0)-differential privacy", _pure),
    "approx": Notion(("epsilon", "delta"), "({epsilon}, {delta})-differential privacy", _approx),
    "rdp": Notion(("order", "epsilon"), "({order}, {epsilon})-Rényi differential privacy", _renyi),
    "zcdp": Notion(("rho",), "{rho}-zero-concentrated differential privacy", _zcdp, "rho"),
    "gdp": Notion(("mu",), "{mu}-Gaussian differential privacy", _gaussian, "mu"),
}
