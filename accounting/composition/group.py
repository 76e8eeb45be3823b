"""Group privacy: what datasets that differ in several users cost, from what one user costs.

With k users changed one after the other, there are k steps between neighbours. So for a group of k

- a mechanism of pure epsilon e has k e;
- (e, d)-DP is (k e, (1 + e^e + ... + e^((k-1) e)) d)-DP (Vadhan, "The complexity of differential
  privacy", 2017, Lemma 2.2);
- mu-GDP is (k mu)-GDP (Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Theorem 2.14);
- a query of sensitivity D has sensitivity k D, and some has no less. So noise that is added to a
  number, and depends on no data, costs exactly what it costs at that sensitivity.

A group contains each of its users: it costs no less than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial

from attrs import evolve

from ...exact import (
    Enclosure,
    ExactInput,
    ParameterError,
    ball,
    enclose,
    exact,
    whole,
    working_precision,
)
from ...exact.budget import in_time
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.mechanism import AdditiveNoise, Mechanism
from ...mechanisms.pairs.pair import FinitePair
from ...mechanisms.sampled import Sampled, unsampled
from .composed import Composition, compose

_WIDTH = Fraction(1, 10**4)  # relative; a group's cost is mostly a bound anyway
_BITS = 128
_STEPS, _WIDER = 16, Fraction(101, 100)  # of a search for an epsilon that holds
_MOST = Fraction(10_000)
_ZERO = Fraction(0)
_INFINITY = Decimal("Infinity")


def group_epsilons(
    of: Composition, sizes: Sequence[ExactInput], delta: ExactInput
) -> list[Enclosure]:
    """The least epsilon of (epsilon, delta)-DP for datasets that differ in at most so many users,
    for each of these sizes.

    Exact where noise is added to numbers and nobody is sampled; else the lower end is that of one
    user, and the upper one the least that the rules above give. Raises ParameterError for tables:
    they are of two named datasets, between which nobody stands.
    """
    if not has_groups(of):
        raise ParameterError("a table is of two named datasets: there are no groups")
    users = [whole(size, "size", at_least=1) for size in sizes]
    level = exact(delta, "delta", above=0, at_most=1)
    found = list[Enclosure]()
    for count in users:
        enlarged = [(_enlarged(mechanism, count), times) for mechanism, times in of.uses]
        uses = [(one, times) for one, times in enlarged if one is not None]
        if len(uses) < len(enlarged):
            return _by_rules(of, users, level)
        found.append(compose(*uses).epsilon(level, _WIDTH))
    return found


def has_groups(of: Composition) -> bool:
    """Are its neighbours any datasets that differ in one user, and not two that are named?"""
    return not any(isinstance(unsampled(use.mechanism), FinitePair) for use in of.uses)


def _by_rules(of: Composition, sizes: Sequence[int], delta: Fraction) -> list[Enclosure]:
    """The least upper end of any rule; one that the time does not suffice for is none."""
    unknown = Enclosure.unknown()
    single = in_time(partial(of.epsilon, delta, _WIDTH), unknown)
    pure, mu = (in_time(partial(find, _WIDTH), unknown) for find in (of.pure, of.gdp))

    def together(users: int) -> Enclosure:
        if users == 1:
            return single
        ways = partial(_gaussian, mu, users, delta), partial(_by_steps, of, users, delta)
        bounds = [pure.times(users), *(in_time(way, unknown) for way in ways)]
        return Enclosure(single.lower, min(bound.upper for bound in bounds))

    return [*map(together, sizes)]


def _enlarged(mechanism: Mechanism, users: int) -> Mechanism | None:
    """The same noise for a group's sensitivity; None where the rule does not hold as it is."""
    if isinstance(mechanism, AdditiveNoise) or (
        isinstance(mechanism, ContinuousNoise) and mechanism.rate == 1
    ):
        return evolve(mechanism, sensitivity=users * mechanism.sensitivity)
    if isinstance(mechanism, Sampled) and mechanism.rate == 1:
        inner = _enlarged(mechanism.mechanism, users)
        return None if inner is None else evolve(mechanism, mechanism=inner)
    return None


def _gaussian(mu: Enclosure, users: int, delta: Fraction) -> Enclosure:
    """What the Gaussian of users times mu costs."""
    if mu.upper == 0:
        return Enclosure.exactly(0)
    if mu.upper == _INFINITY or mu.upper * users >= _MOST:
        return Enclosure.unknown()
    noise = ContinuousNoise(Shape.GAUSSIAN, 1 / (users * Fraction(mu.upper)))
    return compose(noise).epsilon(delta, _WIDTH)


def _by_steps(of: Composition, users: int, delta: Fraction) -> Enclosure:
    """users times an e that one user has at so small a delta that the group's holds.

    Rising: each that is tried is what one user costs at the delta that the one before asks for.
    """
    e = _ZERO
    for _ in range(_STEPS):
        high = of.epsilon(_share(users, e, delta), _WIDTH).upper
        if high == _INFINITY or (e := Fraction(high) * _WIDER) >= _MOST:
            break
        if of.delta(e, _WIDTH).upper <= _share(users, e, delta):
            return Enclosure(_ZERO, users * e)
    return Enclosure.unknown()


def _share(users: int, e: Fraction, delta: Fraction) -> Fraction:
    """A lower bound of delta/(1 + e^e + ... + e^((users-1) e))."""
    with working_precision(_BITS):
        steps = sum((ball(e * i).exp() for i in range(1, users)), ball(1))
        return Fraction(enclose(ball(delta) / steps).lower)
