"""Whether one end of what is measured follows from the choices that a certificate names.

*From above*: the uses that dominate (`vectors`), each way round, cost at most that. *From below*:
those that are attained cost at least that, one way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .arithmetic import INFINITY, End, OpenError
from .concentrated import Cover
from .hints import DIRECTIONS, Hints, Orders
from .notions import NOTIONS, Covered, Numbers
from .scenarios import Uses, scenarios
from .vectors import attained, dominated, squares

BITS = 160  # of intervals


def is_proved(
    uses: Uses,
    kind: str,
    numbers: Numbers,
    end: End,
    above: bool,
    hints: Hints,
    covered: Covered | None = None,
) -> bool:
    """Is what these cost together at most this, or at least? False: these choices do not show it.

    covered: whether the orders are, if not by the cover that is named.
    """
    notion, approx = NOTIONS[kind], numbers.get("delta", Fraction(0)) > 0
    covered = covered or _by_lists(hints.cover)
    if not above:
        return any(notion.proves(one, numbers, end, False, hints, covered)
                   for one in facing(attained(uses, hints, approx), hints))  # fmt: skip
    if end == INFINITY:
        return True
    if (coordinates := squares(uses, hints, kind)) is not None:
        each = (([(one, 1)], share * Fraction(end)) for one, share in coordinates)
        return all(notion.proves(one, numbers, most, True, hints, covered) for one, most in each)
    found = dominated(uses, hints, kind, approx)
    if found.missed:
        if kind != "approx" or found.missed >= numbers["delta"]:
            raise OpenError("missed is taken from delta, and must be less")
        numbers = {**numbers, "delta": numbers["delta"] - found.missed}
    left = Fraction(end) - found.lost
    return left >= 0 and all(
        notion.proves(one, numbers, left, True, hints, covered) for one in scenarios(found.uses)
    )


def facing(uses: Uses, hints: Hints) -> Sequence[Uses]:
    """The uses each way round, or the one that is named."""
    ways = scenarios(uses)
    if hints.direction is None or len(ways) == 1:
        return ways
    return [ways[DIRECTIONS.index(hints.direction)]]


def _by_lists(lists: Sequence[Orders]) -> Covered:
    left = list(lists)

    def covered(cover: Cover) -> bool:
        return bool(left) and cover.along(left.pop(0) if len(left) > 1 else left[0])

    return covered
