"""What is measured of a use that lies between others, besides these.

*Its own profile* (`Profiled`), from both sides: delta, and its inverse.

*What mechanisms of a Rényi guarantee attain*: pairs of two outcomes that have it. Whatever has a
guarantee, seen by a single event, has it still: so the worst epsilon at a delta, and delta at an
epsilon, of all mechanisms that have it are those of pairs of two outcomes. Floats seek a good one;
that it has the guarantee, both ways round, is proved of its exact probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...exact.budget import OutOfTimeError
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import log_about
from ...exact.precision import enclose, refine
from ...exact.roots import float_root, halved
from ...mechanisms.dominating import InClosedForm, Profiled, RenyiCurve
from ...mechanisms.mechanism import either_way
from ...mechanisms.pairs.pair import FinitePair
from ...mechanisms.sampling.guaranteed import Guaranteed
from ..divergences.concentrated import supremum
from ..divergences.renyi import divergence
from ..figure import Figure
from ..scenario import Use

_ROUGH, _MIDDLE, _FINE = 1e-3, 1e-4, 1e-5  # relative widths of delta
_GAP = Fraction(1, 200)  # relative: what finer measuring does not close
_NEAR = 1e-6  # relative distance of two epsilons between which the answer lies
_LEAST = 1e-12  # excess of a logarithm
_FAR = Fraction(10_000)  # no epsilon is looked for beyond
_BELOW = Fraction(600)  # where e^epsilon is a float
_ZERO = Fraction(0)
_NEAREST = Fraction(1, 2000), Fraction(1, 500), Fraction(1, 100)  # beyond what is attained
OPEN = "what some neighbours attain is less than what bounds them all"
_ROUGHLY = Fraction(1, 10**9)
_ORDERS = np.geomspace(1e-3, 1e4, 300)  # less 1
_TURNS, _PLACES = 40, 12
_MARGINS = (1e-7, 1e-5, 1e-3)  # by which the probability under Q is raised
_FARTHEST = 10**4  # epsilon
_MOST = 1e6  # by which log q is less than log p: farther away, probabilities become long
_MORE = 0.6  # of log delta: where a use is one of several, more than delta is told by it

_Floats: TypeAlias = NDArray[np.float64]


def by_itself(
    uses: Sequence[Use], figure: Figure, width: Fraction, cap: int, pure: Callable[[], Enclosure]
) -> Enclosure | None:
    """One use alone, by its formula or own profile; None without. pure: its pure epsilon."""
    one, at = either_way(uses[0].mechanism), figure.at
    if len(uses) != 1 or uses[0].times != 1 or at is None:
        return None
    if isinstance(one, InClosedForm):
        measure = partial(one.in_closed_form, figure.quantity, at)
        return refine(lambda: enclose(measure()), width=width, cap=cap).found_by("a closed form")
    if not isinstance(one, Profiled):
        return None
    if figure.quantity == "delta":
        return own_delta(one, at, width)
    return own_epsilon(one, at, pure()) if figure.quantity == "epsilon" and at < 1 else None


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


def own_epsilon_below(one: Profiled, delta: Fraction) -> Enclosure:
    """The same where no pure epsilon is known; nothing where delta is not met far out either."""
    with suppress(OutOfTimeError):
        if one.delta_at_most(_BELOW, _ROUGH) <= delta:
            return own_epsilon(one, delta, Enclosure(_ZERO, _BELOW))
    return Enclosure.unknown()


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


# -- what a guarantee allows ----------------------------------------------------------------------


def attained(uses: Sequence[Use], figure: Figure) -> list[tuple[Use, ...]]:
    """Lists that cost at most what these do: one guaranteed use as two outcomes, all else alike."""
    for index, use in enumerate(uses):
        one = either_way(use.mechanism)
        if isinstance(one, Guaranteed):
            rest = [Use(use.mechanism, use.times - 1)] if use.times > 1 else []
            others, levels = (*uses[:index], *rest, *uses[index + 1 :]), [figure]
            if others and figure.at is not None:  # which tell of the data too: a larger delta
                is_delta = figure.quantity == "delta"
                more = figure.at / 2 if is_delta else math.exp(_MORE * log_about(figure.at))
                levels.append(figure._replace(at=Fraction(more)))
            pairs = (two_outcomes(one.curve, level) for level in levels)
            return [(Use(one.alike(pair), 1), *others) for pair in pairs if pair is not None]
    return []


@lru_cache(maxsize=64)
def two_outcomes(curve: RenyiCurve, figure: Figure) -> FinitePair | None:
    """A pair that this curve bounds, with nearly the largest such figure; None if none is found.

    figure: "epsilon" at a delta in (0, 1), or "delta" at an epsilon; of others none is sought.
    """
    low = -60.0
    if figure.at is None or (figure.quantity == "delta" and figure.at > _FARTHEST):
        return None
    if figure.quantity == "epsilon":
        if not 0 < figure.at < 1:
            return None
        low = log_about(figure.at)
    at = low if figure.quantity == "epsilon" else float(figure.at)

    def gain(log_p: float) -> float:
        """epsilon, or log delta, of the event of this probability."""
        log_q = _least_q(curve, log_p)
        if figure.quantity == "epsilon":
            return log_p + _log_rest(at - log_p) - log_q
        return log_p + _log_rest(at + log_q - log_p)

    best = _largest(gain, low, -1e-3)
    p = Fraction(math.exp(best))
    for margin in _MARGINS:
        log_q = _least_q(curve, best) + math.log1p(margin)
        halvings = max(0, -math.floor(log_q / math.log(2)))  # what no float holds is one shifted
        q = Fraction(math.exp(log_q + halvings * math.log(2))) / 2**halvings
        if 0 < q < p < 1:
            pair = FinitePair(("seen", "not"), (p, 1 - p), (q, 1 - q))
            with suppress(ArithmeticError):
                if all(_has(curve, one) for one in (pair, pair.swapped())):
                    return pair
    return None


def _has(curve: RenyiCurve, pair: FinitePair) -> bool:
    """Is it proved that this curve bounds its divergences?"""
    if curve.order is None:
        found = refine(lambda: supremum(pair).value, width=_ROUGHLY)
    else:
        order = curve.order
        found = refine(lambda: divergence(pair, order), width=_ROUGHLY)
    return found.at_most(curve.bound) is True


def _least_q(curve: RenyiCurve, log_p: float) -> float:
    """log of about the least q < p for which the curve bounds (p, 1 - p) and (q, 1 - q)."""
    p, bound = math.exp(log_p), float(curve.bound)
    orders = _ORDERS if curve.order is None else np.array([float(curve.order - 1)])
    most = orders * bound * (orders + 1 if curve.order is None else 1)
    log_rest = math.log1p(-p)

    def has(log_q: float) -> bool:
        rest = math.log1p(-math.exp(log_q))
        up, down = orders * (log_p - log_q), orders * (log_rest - rest)
        return within(log_p, up, log_rest, down) and within(log_q, -up, rest, -down)

    def within(first: float, raised: _Floats, second: float, other: _Floats) -> bool:
        """Near 1, a moment less 1: orders near 1 would lose it in rounding."""
        with np.errstate(over="ignore"):
            gain = math.exp(first) * np.expm1(raised) + math.exp(second) * np.expm1(other)
        log_moment = np.logaddexp(first + raised, second + other)
        near = gain <= np.expm1(np.minimum(most, 1))
        return bool(np.where(most < 1, near, log_moment <= most).all())

    high, step = log_p, 1.0
    while has(high - step) and step < _MOST:
        step *= 2
    return halved(has, high - step, high, _TURNS)[1]


def _largest(cost: Callable[[float], float], low: float, high: float) -> float:
    """About where it is largest: on a grid, ever finer around the best."""
    for _ in range(4):
        places = [low + (high - low) * i / _PLACES for i in range(_PLACES + 1)]
        best = max(range(len(places)), key=lambda i: cost(places[i]))
        low, high = places[max(best - 1, 0)], places[min(best + 1, _PLACES)]
    return (low + high) / 2


def _log_rest(log_share: float) -> float:
    """log(1 - e^log_share); of nothing, or less, the less the more is missing."""
    return math.log(-math.expm1(log_share)) if log_share < -1e-12 else -1e6 - log_share
