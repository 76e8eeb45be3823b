"""What methods of accounting report for compositions, each computed once, and what it leaves."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ...exact import Enclosure
from ...exact.budget import spend
from ...exact.roots import first_met_near
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import Composition, compose
from ..methods.comparison import Method
from .charges import minus

_NOTHING = Enclosure.exactly(0)
_WIDTHS = [Fraction(1, 10**digits) for digits in (3, 6, 12)]  # the first that decides will do


class Remaining(NamedTuple):
    """What may still be spent of a target, by one method.

    left: the target less what was spent; negative where it is overspent. certain: so many uses more
    certainly fit. most: the largest number that fits; None where one more could not be told.
    """

    spent: Enclosure
    left: Enclosure
    certain: int
    most: int | None


@lru_cache(maxsize=4096)
def reported(
    method: Method, composition: Composition | None, delta: Fraction, width: Fraction
) -> Enclosure | None:
    """The epsilon that the method reports; None where it does not apply."""
    if composition is None:
        return _NOTHING
    with suppress(ArithmeticError):  # its conditions may not hold, or not be told to hold
        found = method.epsilon(composition, delta, width)
        spend()  # what is known for want of time is not kept
        return found
    return None


def remaining(
    method: Method,
    before: Composition | None,
    mechanism: Mechanism,
    epsilon: Fraction,
    delta: Fraction,
    most: int,
    width: Fraction,
) -> Remaining | None:
    """What is left of (epsilon, delta), and how many more uses, at most `most`, it allows."""
    spent = reported(method, before, delta, width)
    if spent is None:
        return None
    parts = () if before is None else (before,)

    def cost(times: int) -> Enclosure:
        uses = compose(*parts, (mechanism, times)) if times else before
        value = Enclosure.unknown()
        for each in _WIDTHS:
            told = reported(method, uses, delta, each)
            value = Enclosure.unknown() if told is None else told
            if value == Enclosure.unknown() or value.at_most(epsilon) is not None:
                break
        return value

    return Remaining(spent, minus(epsilon, spent), *most_uses(cost, epsilon, most))


def most_uses(
    cost: Callable[[int], Enclosure], target: Fraction, most: int
) -> tuple[int, int | None]:
    """How many uses certainly fit; and the largest number that fits, where it can be told.

    cost: does not fall. By doubling, then bisection.
    """
    answers: dict[int, bool | None] = {}

    def fits(times: int) -> bool | None:
        if times not in answers:
            answers[times] = cost(times).at_most(target)
        return answers[times]

    if fits(0) is not True:
        return 0, None if fits(0) is None else 0
    beyond = first_met_near(lambda times: fits(times) is not True, 1, 0, most + 1)
    return beyond - 1, beyond - 1 if beyond > most or fits(beyond) is False else None
