"""A single use that is measured by itself: by formulas, or by its own profile from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial

from ...exact.budget import OutOfTimeError
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import log_about
from ...exact.precision import enclose, refine
from ...exact.roots import float_root
from ...mechanisms.bracket import InClosedForm, Profiled
from ...mechanisms.mechanism import Mechanism, either_way
from ..figure import Figure

_ROUGH, _MIDDLE, _FINE = 1e-3, 1e-4, 1e-5  # relative widths of delta
_GAP = Fraction(1, 200)  # relative: what finer measuring does not close
_NEAR = 1e-6  # relative distance of two epsilons between which the answer lies
_LEAST = 1e-12  # excess of a logarithm
_FAR = Fraction(10_000)  # no epsilon is looked for beyond
_BELOW = Fraction(600)  # where e^epsilon is a float
_BESIDES = Fraction(1, 10**5)  # width
_ZERO = Fraction(0)
_NEAREST = Fraction(1, 2000), Fraction(1, 500), Fraction(1, 100)  # beyond what is attained
OPEN = "what some neighbours attain is less than what bounds them all"


def by_itself(
    mechanism: Mechanism, figure: Figure, width: Fraction, cap: int, pure: Callable[[], Enclosure]
) -> Enclosure | None:
    """One use alone, by its formula or own profile; None without. pure: its pure epsilon."""
    one, at = either_way(mechanism), figure.at
    assert at is not None
    if isinstance(one, InClosedForm):
        measure = partial(one.in_closed_form, figure.quantity, at)
        return refine(lambda: enclose(measure()), width=width, cap=cap).found_by("a closed form")
    if isinstance(one, Profiled) and figure.quantity == "delta":
        return own_delta(one, at, width)
    if isinstance(one, Profiled) and figure.quantity == "epsilon" and at < 1:
        return own_epsilon(one, at, pure())
    return None


def by_profile(one: Profiled, figure: Figure) -> Enclosure:
    """The same of what measures a use besides, of which no pure epsilon need be known."""
    assert figure.at is not None
    if figure.quantity == "delta":
        return own_delta(one, figure.at, _BESIDES)
    with suppress(OutOfTimeError):
        if one.delta_at_most(_BELOW, _ROUGH) <= figure.at:
            return own_epsilon(one, figure.at, Enclosure(_ZERO, _BELOW))
    return Enclosure.unknown()


def own_delta(one: Profiled, epsilon: Fraction, width: Fraction) -> Enclosure:
    """delta(epsilon), quickly first, and then as narrowly as it measures itself."""
    known = Enclosure.probability()
    with suppress(OutOfTimeError):
        for precise in (_ROUGH, _FINE):
            upper = min(known.upper, one.delta_at_most(epsilon, precise))
            known = Enclosure(known.lower, upper)
            lower = max(known.lower, one.delta_at_least(epsilon, precise))
            known = Enclosure(min(lower, upper), upper)
            if known.is_within(width) or not known.is_within(_GAP):
                break
        for share in reversed(_NEAREST):
            most = Fraction(known.lower) * (1 + share)
            if known.is_within(width) or most >= known.upper:
                continue
            if not one.costs_at_most(epsilon, most):
                break
            known = Enclosure(known.lower, most)
    return known.because(OPEN)


def own_epsilon(one: Profiled, delta: Fraction, most: Enclosure) -> Enclosure:
    """The least epsilon with delta(epsilon) <= delta, 0 < delta < 1. most: the pure epsilon."""
    end = Fraction(most.upper) if most.is_finite() else _FAR
    high = _last(one.delta_at_most, delta, end)[1]
    low = _last(one.delta_at_least, delta, end)[0]
    upper: Endpoint = most.upper if high is None else min(high, most.upper)
    known = Enclosure(min(low, upper), upper)
    with suppress(OutOfTimeError):
        for share in _NEAREST:
            near = Fraction(known.lower) * (1 + share)
            if near < known.upper and one.costs_at_most(near, delta):
                return Enclosure(known.lower, near).because(OPEN)
    return known.because(OPEN)


def _last(
    measure: Callable[[Fraction, float], Endpoint], delta: Fraction, end: Fraction
) -> tuple[Fraction, Fraction | None]:
    """Two near epsilons, delta exceeded at the first and not at the second (None: none was found).

    Floats choose where to look. Out of time, as near as they are by then.
    """
    low, high, goal = _ZERO, None, log_about(delta)

    @cache
    def excess(place: float) -> float:
        nonlocal low, high
        at = Fraction(place)
        is_near = high is not None and high - low < high / 100
        found = Fraction(measure(at, _MIDDLE if is_near else _ROUGH))
        if found > delta:
            low = max(low, at)
            return max(log_about(found) - goal, _LEAST)
        high = at if high is None else min(high, at)
        return min(max(log_about(found) - goal, 4 * goal - 40), -_LEAST) if found else -math.inf

    with suppress(OutOfTimeError):
        if excess(0.0) > 0:
            float_root(excess, 0.0, float(end), _NEAR)
    return low, high
