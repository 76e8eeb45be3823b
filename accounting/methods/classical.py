"""Composition theorems that see each use only through its (epsilon_i, delta_i).

`Each` says what one kind of use is known to be. Randomized response that reveals its bit with
probability delta_i (`RandomizedResponse`) dominates every such use, so that the composition of
these is the best that any theorem of this kind can give (Kairouz, Oh, Viswanath): `optimal`. All
numbers grow with every epsilon_i: from enclosures of these follow enclosures of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import reduce

from attrs import field, frozen
from flint import arb

from ...exact import WIDTH, Enclosure, Endpoint, ExactInput, ParameterError, ball, exact, refine
from ...exact.errors import DoesNotApplyError as DoesNotApplyError
from ...exact.rounding import to_digits
from ...mechanisms.mechanism import RandomizedResponse
from ..composition.composed import Composition, compose
from ..figure import read_delta, read_epsilon
from ..participation.charges import read_times

_INFINITE = Decimal("Infinity")
_LARGEST_EPSILON = 10_000  # of one use, for randomized response
_SPARE_DIGITS = 3  # of an epsilon_i that is handed on, beyond those that the result is to have


def _read_level(value: ExactInput | Enclosure) -> Enclosure:
    if not isinstance(value, Enclosure):
        return Enclosure.exactly(read_epsilon(value))
    if value.less_than(0) is not False:
        raise ParameterError(f"epsilon must be at least 0, got {value}")
    return value


@frozen
class Each:
    """So many uses of which each is (epsilon, delta)-DP."""

    epsilon: Enclosure = field(converter=_read_level)
    delta: Fraction = field(default=Fraction(0), converter=read_delta)
    times: int = field(default=1, converter=read_times)


def basic(uses: Sequence[Each]) -> Enclosure:
    """sum epsilon_i.

    Source: Dwork, Kenthapadi, McSherry, Mironov, Naor, "Our data, ourselves", EUROCRYPT 2006,
    Theorem 1; it holds for different epsilon_i and adaptive choices as well.
    """
    return Enclosure.total(each.epsilon.times(each.times) for each in uses)


def advanced(uses: Sequence[Each], slack: ExactInput, width: Fraction = WIDTH) -> Enclosure:
    """sqrt(2 log(1/delta') sum epsilon_i^2) + sum epsilon_i (e^epsilon_i - 1), delta' = slack.

    Source: Dwork, Rothblum, Vadhan, "Boosting and differential privacy", FOCS 2010, Theorem III.3
    (Dwork and Roth 2014, Theorem 3.20), there for equal epsilon_i. For any, in place of the uses
    take the randomized responses that dominate them. With probability at least 1 - sum delta_i none
    reveals its bit, and then the losses are independent, +-epsilon_i, of mean
    epsilon_i tanh(epsilon_i/2) <= epsilon_i (e^epsilon_i - 1): by Hoeffding's inequality their sum
    exceeds the number above with probability at most delta'.
    """
    rest = exact(slack, "slack", above=0, at_most=1)

    def bound(levels: _Levels) -> arb:
        squares = _summed(levels, lambda level: level**2)
        means = _summed(levels, lambda level: level * level.expm1())
        return (-2 * ball(rest).log() * squares).sqrt() + means

    return _at_both_ends(uses, bound, width)


def theorem7(uses: Sequence[Each], slack: ExactInput, width: Fraction = WIDTH) -> Enclosure:
    """2 epsilon sqrt(2 K log(1/delta')) with the largest epsilon_i, where that is certain to hold.

    Source: Theorem 7 of the distributed-bandits paper (ICLR 2023), stated for results in (0, 1) and
    any delta' > 0. That is false for some delta' near 1 (10,000 uses at epsilon = 0.1, delta' =
    0.999). It follows from `advanced` where that is not above it: K (e^epsilon - 1) <=
    sqrt(2 K log(1/delta')).
    Raises DoesNotApplyError where either condition is not certain.
    """
    rest = exact(slack, "slack", above=0, at_most=1)
    found = theorem7_number(uses, rest, width)
    if found.less_than(1) is not True:
        raise DoesNotApplyError("stated for results below 1")
    if advanced([_worst(uses)], rest, width).at_most(found.lower) is not True:
        raise DoesNotApplyError("false in general for so large a delta'")
    return found


def theorem7_number(uses: Sequence[Each], slack: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The number of `theorem7`, whether it holds or not."""

    def bound(levels: _Levels) -> arb:
        ((level, count),) = levels
        return 2 * ball(level) * (-2 * count * ball(slack).log()).sqrt()

    return _at_both_ends([_worst(uses)], bound, width)


def optimal(uses: Sequence[Each], delta: ExactInput, width: Fraction = WIDTH) -> Enclosure:
    """The least epsilon at this delta that follows from all (epsilon_i, delta_i).

    Source: Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", ICML 2015,
    Theorem 3.3, for equal (epsilon_i, delta_i); for any, Murtagh, Vadhan, "The complexity of
    computing the optimal composition of differential privacy", TCC 2016-A.
    """
    level = exact(delta, "delta", at_least=0, at_most=1)
    if any(each.epsilon.lower == _INFINITE for each in uses):
        return Enclosure.infinite()
    if any(each.epsilon.at_most(_LARGEST_EPSILON) is not True for each in uses):
        raise DoesNotApplyError(f"some epsilon_i is not known to be at most {_LARGEST_EPSILON}")
    digits = len(str((1 / width).__ceil__())) + _SPARE_DIGITS

    def responses(end: str, rounding: str) -> Composition:
        levels = [
            to_digits(Fraction(getattr(each.epsilon, end)), digits, rounding) for each in uses
        ]
        pairs = zip(levels, uses, strict=True)
        return compose(*((RandomizedResponse(at, each.delta), each.times) for at, each in pairs))

    low, high = responses("lower", ROUND_FLOOR), responses("upper", ROUND_CEILING)
    lower = low.epsilon(level, width)
    return Enclosure(lower.lower, (lower if low == high else high.epsilon(level, width)).upper)


_Levels = Sequence[tuple[Fraction, int]]  # epsilon_i, and how often


def _at_both_ends(
    uses: Sequence[Each], bound: Callable[[_Levels], arb], width: Fraction
) -> Enclosure:
    """A bound that grows with every epsilon_i, at their lower and at their upper ends."""

    def at(ends: list[Endpoint]) -> Enclosure:
        if _INFINITE in ends:
            return Enclosure.infinite()
        levels = [(Fraction(end), each.times) for end, each in zip(ends, uses, strict=True)]
        return refine(lambda: bound(levels), width=width)

    lower, upper = ([getattr(each.epsilon, end) for each in uses] for end in ("lower", "upper"))
    return Enclosure(at(lower).lower, at(upper).upper)


def _summed(levels: _Levels, term: Callable[[arb], arb]) -> arb:
    return sum((count * term(ball(level)) for level, count in levels), arb(0))


def _worst(uses: Sequence[Each]) -> Each:
    """All of them as if each had the largest epsilon_i."""
    largest = reduce(Enclosure.maximum, (each.epsilon for each in uses))
    return Each(largest, 0, sum(each.times for each in uses))
