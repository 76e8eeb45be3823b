"""Between which two amounts of noise a target is just met: a search with certified ends."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

from ...exact.enclosure import Enclosure
from ...exact.errors import UndecidedError
from ...exact.search import Grid, Search

_LEAST, _LARGEST, _DIGITS = Fraction(1, 10**18), Fraction(10**30), 15


def least_noise(
    cost: Callable[[Fraction], Enclosure],
    target: Enclosure,
    guess: float,
    width: Fraction,
    slope: float = -0.5,
) -> Enclosure:
    """An amount whose cost certainly exceeds the target, and a slightly larger one that meets it.

    cost: a positive number (epsilon, say) that tends to fall as the amount grows, enclosed at least
    ten times more narrowly than `width`. target: as known. guess: where to look first, and slope:
    of log cost in log amount there, about. width: relative, at least 1e-12. Where the cost falls
    strictly, the least amount that meets the target is inside.
    Wider than asked where what lies between is too close to call, which `Enclosure.is_within`
    tells. Raises UndecidedError where no two such amounts are found.
    """

    def met(amount: Fraction) -> bool | None:
        found = cost(amount)
        if found.at_most(target.lower):
            return True
        return False if found.greater_than(target.upper) else None

    def refuse(amount: Fraction, met: bool | None) -> None:
        what = "misses" if met else "meets"
        raise UndecidedError(f"nothing near {float(amount):.6g} certainly {what} the target")

    search = Search(met, Grid(_LEAST, _LARGEST, _DIGITS, width), refuse, "noise")
    bound, near = Fraction(target.upper), float(width)
    middle, _ = search.located(lambda amount, _: cost(amount), bound, guess, (width,), near, -slope)
    with suppress(UndecidedError):  # of the middle of the nearest two, too close to call
        search.around(middle, width / 3)
    low, high = search.nearest()
    while low is not None and high is not None and high - low > width * high:
        for share in (1, 3):  # the middle was: beside it they may be told
            search.ask(search.grid.rounded(low + share * (high - low) / 4))
        if search.nearest() == (low, high):
            break
        low, high = search.nearest()
    if low is None or high is None:
        raise UndecidedError(f"no two amounts near {float(middle):.6g} are certainly told apart")
    return Enclosure(low, high)
