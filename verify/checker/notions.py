"""What can be claimed: of each kind its numbers, its words, and whether what is measured is true.

A kind of claim is one row of `NOTIONS`; whatever reads, describes and checks certificates asks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Protocol, TypeAlias

from mpmath import iv

from . import divergences
from .arithmetic import INFINITY, Enclosure, End, add, times
from .composition import Profile, profile
from .concentrated import rho_at_least, rho_at_most
from .continuous import closed_profile
from .gaussian_dp import gaussian_mu
from .guarantees import delta_at_most
from .mechanisms import Additive, Allocation, Continuous, Curve, Key, Mechanism, Sampled
from .scenarios import Uses, scenarios
from .shuffled import Shuffled

_ABOVE = 1 + Fraction(1, 10**6)  # by so much a rho is called another
_LARGEST_ORDER = Fraction(1 << 14)
SEARCHED = 128  # bits, at which what is open is searched for


class Said(Protocol):
    """What a certificate says of uses: the numbers of its claim, and what is measured of them."""

    @property
    def uses(self) -> Uses: ...
    @property
    def numbers(self) -> Mapping[str, Fraction]: ...
    @property
    def measured(self) -> Enclosure: ...
    @property
    def step(self) -> Fraction | None: ...


_Asked: TypeAlias = "Callable[[Said, bool], bool | None]"


@dataclass(frozen=True)
class Notion:
    """A kind of claim.

    is_inside: does the measured enclosure contain the truth, all shifts listed or not? None: not
    told at this precision. exceeding: does something cost more than what is measured, if it takes
    another way than that. bounded: the name of the number that must not be exceeded.
    """

    numbers: tuple[str, ...]
    words: str
    is_inside: _Asked
    bounded: str = "epsilon"
    exceeding: Callable[[Said], bool] | None = None

    def is_exceeded(self, said: Said) -> bool:
        """Do these uses cost more than what is measured, for certain?"""
        if self.exceeding is not None:
            return self.exceeding(said)
        return self.is_inside(said, True) is False


def is_listed(uses: Uses) -> bool:
    """Is it one use, which is listed outcome by outcome?"""
    if len(uses) != 1 or uses[0][1] != 1:
        return False
    return not isinstance(uses[0][0], Allocation | Shuffled)


def wraps(uses: Uses) -> bool:
    """Is some use reduced mod m, so that listing all shifts may tell more?"""
    noises = [one.mechanism if isinstance(one, Sampled) else one for one, _ in uses]
    return any(isinstance(noise, Additive) and noise.modulus is not None for noise in noises)


def _pure(said: Said, full: bool) -> bool | None:
    return _sums(said, lambda one: divergences.pure(one, full))


def _renyi(said: Said, full: bool) -> bool | None:
    order = said.numbers["order"]
    return _sums(said, lambda one: divergences.renyi(one, order, full))


def _gaussian(said: Said, full: bool) -> bool | None:
    return _contains(said.measured, _largest([gaussian_mu(uses) for uses in scenarios(said.uses)]))


def _zcdp(said: Said, full: bool) -> bool | None:
    low, high = said.measured
    ways = scenarios(said.uses)
    if not all(rho_at_most(uses, high, full) for uses in ways):
        return None if wraps(said.uses) and not full else False
    if low == 0:
        return True
    search = iv.prec == SEARCHED
    if any(rho_at_least(uses, low, full, search) for uses in ways):
        return True
    if not search or low == INFINITY:
        return None
    below = Fraction(low) / _ABOVE
    return False if all(rho_at_most(uses, below, full) for uses in ways) else None


def _zcdp_exceeds(said: Said) -> bool:
    above = Fraction(said.measured[1]) * _ABOVE
    return any(rho_at_least(uses, above, True, True) for uses in scenarios(said.uses))


def _sums(said: Said, cost: Callable[[Mechanism], Enclosure]) -> bool | None:
    """Of a cost that adds up."""
    return _contains(said.measured, _largest([_total(each, cost) for each in scenarios(said.uses)]))


def _total(uses: Uses, cost: Callable[[Mechanism], Enclosure]) -> Enclosure:
    """What one scenario costs, of a cost that adds up."""
    total: Enclosure = (Fraction(0), Fraction(0))
    for mechanism, count in uses:
        total = add(total, times(count, cost(mechanism)))
    return total


def _largest(found: Sequence[Enclosure]) -> Enclosure:
    return max(low for low, _ in found), max(high for _, high in found)


def _contains(outer: Enclosure, inner: Enclosure) -> bool | None:
    if outer[0] <= inner[0] and inner[1] <= outer[1]:
        return True
    return False if inner[1] < outer[0] or outer[1] < inner[0] else None


def _approx(said: Said, full: bool) -> bool | None:
    """epsilon(delta) <= e if and only if delta(e) <= delta."""
    goal = said.numbers["delta"]
    if goal == 0:
        return _pure(said, full)
    low, high = said.measured
    profiles = [_profile(said, uses, full) for uses in scenarios(said.uses)]

    def is_at_most(level: End) -> bool | None:
        if max(each.at_most(level) for each in profiles) <= goal:
            return True
        return False if max(each.at_least(level) for each in profiles) > goal else None

    def is_above(level: End) -> bool | None:
        if max(each.at_least(level) for each in profiles) > goal:
            return True
        return False if max(each.at_most(level) for each in profiles) < goal else None

    answers = [] if high == INFINITY else [is_at_most(high)]
    if low > 0 and False not in answers:
        answers.append(is_above(low))
    return False if False in answers else (None if None in answers else True)


def _profile(said: Said, uses: Uses, full: bool) -> Profile:
    """delta of one scenario as a function of epsilon."""
    goal = said.numbers["delta"]
    if any(isinstance(one, Curve) for one, _ in uses):
        return _by_renyi(uses, full)
    if len(uses) == 1 == uses[0][1] and isinstance(one := uses[0][0], Shuffled):
        return Profile(partial(one.at_least, goal=goal), partial(one.at_most, goal=goal))
    closed = _closed(uses)
    if closed is not None:
        return Profile.of(closed)
    if is_listed(uses):
        mechanism = uses[0][0]
        bits = 0.6 * iv.prec + goal.denominator.bit_length() - goal.numerator.bit_length()
        return Profile.of(lambda level: divergences.delta(mechanism, level, bits, full))
    ends = [Fraction(end) for end in said.measured if end != INFINITY]
    largest = max(ends, default=Fraction(0))
    return profile(uses, goal, largest, said.step, full)


def _by_renyi(uses: Uses, full: bool) -> Profile:
    """What Rényi divergences show, of what is known by them."""
    orders = [one.order for one, _ in uses if isinstance(one, Curve) and one.order]

    def renyi(order: Fraction) -> End:
        return _total(uses, lambda one: divergences.renyi(one, order, full))[1]

    most = min(orders, default=_LARGEST_ORDER)
    return Profile(lambda level: Fraction(0), lambda level: delta_at_most(level, renyi, most))


def _closed(uses: Uses) -> Callable[[End], Enclosure] | None:
    """The same of continuous noise, where a formula tells it: of a key, of both kinds."""
    one, times = uses[0] if uses else (None, 0)
    if not (isinstance(one, Key) and isinstance(one.noise, Continuous)) or len(uses) + times > 2:
        return closed_profile(uses)
    plain = closed_profile([(one.among_others, 1)])
    assert plain is not None
    return lambda level: _largest([plain(level), divergences.alone(one).delta(level)])


NOTIONS = {
    "pure": Notion(("epsilon",), "({epsilon}, 0)-differential privacy", _pure),
    "approx": Notion(("epsilon", "delta"), "({epsilon}, {delta})-differential privacy", _approx),
    "rdp": Notion(("order", "epsilon"), "({order}, {epsilon})-Rényi differential privacy", _renyi),
    "zcdp": Notion(
        ("rho",), "{rho}-zero-concentrated differential privacy", _zcdp, "rho", _zcdp_exceeds
    ),
    "gdp": Notion(("mu",), "{mu}-Gaussian differential privacy", _gaussian, "mu"),
}
