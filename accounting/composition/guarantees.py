"""What mechanisms of a Rényi guarantee attain: pairs of two outcomes that have it.

Whatever has a guarantee, seen by a single event, has it still: so the worst epsilon at a delta, and
delta at an epsilon, of all mechanisms that have it are those of pairs of two outcomes. Floats seek
a good one; that it has the guarantee, both ways round, is proved of its exact probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...exact.number import log_about
from ...exact.precision import refine
from ...exact.roots import halved
from ...mechanisms.bracket import RenyiCurve
from ...mechanisms.mechanism import either_way
from ...mechanisms.pairs.pair import FinitePair
from ...mechanisms.sampling.guaranteed import Guaranteed
from ..divergences.concentrated import supremum
from ..divergences.renyi import divergence
from ..figure import Figure
from ..scenario import Use

_ROUGHLY = Fraction(1, 10**9)
_ORDERS = np.geomspace(1e-3, 1e4, 300)  # less 1
_TURNS, _PLACES = 40, 12
_MARGINS = (1e-7, 1e-5, 1e-3)  # by which the probability under Q is raised
_FARTHEST = 10**4  # epsilon
_MOST = 1e6  # by which log q is less than log p: farther away, probabilities become long
_MORE = 0.6  # of log delta: where a use is one of several, more than delta is told by it

_Floats: TypeAlias = NDArray[np.float64]


def as_two_outcomes(uses: Sequence[Use], figure: Figure) -> list[tuple[Use, ...]]:
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
