"""How many uses fit into a budget: a search whose answer is certain."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ...exact.enclosure import Enclosure
from ...exact.roots import first_met

__all__ = ["most_uses"]


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
    low, high, step = 0, most + 1, 1
    while low < most and high > most:
        probe = min(low + step, most)
        if fits(probe) is True:
            low, step = probe, 2 * step
        else:
            high = probe
    low = first_met(lambda times: fits(times) is not True, low, high) - 1
    high = low + 1
    return low, low if high > most or fits(high) is False else None
