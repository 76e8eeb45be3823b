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

from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

from attrs import evolve

from ..exact import Enclosure, Endpoint, ExactInput, ball, enclose, exact, whole, working_precision
from ..exact.deadline import OutOfTimeError, time_left, time_limit
from ..mechanisms.continuous import ContinuousNoise, Shape
from ..mechanisms.mechanism import AdditiveNoise, Mechanism
from ..mechanisms.sampled import Sampled
from .composed import Composition, Use, compose

_WIDTH = Fraction(1, 10**4)  # relative; a group's cost is mostly a bound anyway
_BITS = 128
_STEPS, _WIDER = 16, Fraction(101, 100)  # of a search for an epsilon that holds
_MOST = Fraction(10_000)
_SHARES = (0.2, 0.5, 0.8)  # of the time that is left, for each bound
_INFINITY = Decimal("Infinity")


def group_epsilon(of: Composition, size: ExactInput, delta: ExactInput) -> Enclosure:
    """The least epsilon of (epsilon, delta)-DP for datasets that differ in at most `size` users.

    Exact where noise is added to numbers and nobody is sampled; else the lower end is that of one
    user, and the upper one the least that the rules above give.
    """
    users = whole(size, "size", at_least=1)
    level = exact(delta, "delta", above=0, at_most=1)
    enlarged = [_enlarged(use.mechanism, users) for use in of.uses]
    found = [each for each in enlarged if each is not None]
    if len(found) == len(enlarged):
        uses = zip(found, of.uses, strict=True)
        return Composition([Use(one, use.times) for one, use in uses]).epsilon(level, _WIDTH)
    single = of.epsilon(level, _WIDTH)
    if users == 1:
        return single
    rules: tuple[Callable[[], Endpoint], ...] = (
        lambda: of.pure(_WIDTH).times(users).upper,
        lambda: _gaussian(of, users, level),
        lambda: _by_steps(of, users, level),
    )
    most: list[Endpoint] = [_INFINITY]
    for share, rule in zip(_SHARES, rules, strict=True):
        with suppress(OutOfTimeError), time_limit(share * time_left()):
            most.append(rule())
    return Enclosure(single.lower, min(most))


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


def _gaussian(of: Composition, users: int, delta: Fraction) -> Endpoint:
    mu = of.gdp(_WIDTH).upper
    if mu == _INFINITY or not 0 < mu * users < _MOST:
        return _INFINITY if mu else Fraction(0)
    noise = ContinuousNoise(Shape.GAUSSIAN, 1 / (users * Fraction(mu)))
    return compose(noise).epsilon(delta, _WIDTH).upper


def _by_steps(of: Composition, users: int, delta: Fraction) -> Endpoint:
    """users times the first e met that one user has at so small a delta that the group's holds."""
    for e in _candidates(of, users, delta):
        if e >= _MOST:
            break
        if of.delta(e, _WIDTH).upper <= _share(users, e, delta):
            return users * e
    return _INFINITY


def _candidates(of: Composition, users: int, delta: Fraction) -> Iterator[Fraction]:
    """Rising: each is what one user costs at the delta that the one before asks for."""
    e = Fraction(0)
    for _ in range(_STEPS):
        high = of.epsilon(_share(users, e, delta), _WIDTH).upper
        if high == _INFINITY:
            return
        e = Fraction(high) * _WIDER
        yield e


def _share(users: int, e: Fraction, delta: Fraction) -> Fraction:
    """A lower bound of delta/(1 + e^e + ... + e^((users-1) e))."""
    with working_precision(_BITS):
        steps = sum((ball(e * i).exp() for i in range(1, users)), ball(1))
        return Fraction(enclose(ball(delta) / steps).lower)
