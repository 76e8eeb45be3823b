"""How many uses fit into a budget: a search whose answer is certain."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ...exact.enclosure import Enclosure
from ...exact.roots import first_met_near

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
    beyond = first_met_near(lambda times: fits(times) is not True, 1, 0, most + 1)
    return beyond - 1, beyond - 1 if beyond > most or fits(beyond) is False else None
