"""delta(epsilon) and epsilon(delta) of the uses of one scenario: what measures which uses.

A ladder: the coarse grid (`grid.rung`), and what is exact or as narrow as asked. Where the latter
takes long the grid is asked first, and the answer is what both leave. Elsewhere the grid is asked
only if the time ends. Where it does not apply, a Gaussian (`by_envelope`) or Rényi divergences
(`by_orders`) bound the figure from above.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import TypeAlias

from ...exact.deadline import OutOfTimeError, grace, time_left
from ...exact.enclosure import ContradictionError, Enclosure
from ...exact.rows import written
from ..figure import Figure, anything, meeting
from ..grid.own import is_own
from ..grid.rung import coarse, dearest_few, narrowed, takes_long
from ..losses import mixed
from ..losses.continuous import allocated, batches
from ..losses.continuous.uses import parts_of
from ..losses.sums import composed_delta, composed_epsilon
from ..scenario import Scenario
from .by_envelope import by_envelope
from .by_orders import by_orders

Enough: TypeAlias = Callable[[Enclosure], bool]

COARSE = "for want of time it was measured on a coarse grid only"
BETWEEN = "it was measured on a grid, between distributions that dominate and what is certain"
TOO_MANY = "it has more outcomes than are listed, and was measured on a grid of blocks of them"
FROM_ABOVE = "for want of time only a bound from above was found"
FROM_SOME = "for want of time the uses of most noise count from above only"
_WIDE = Fraction(1, 100)
_VAGUE = Fraction(1, 2)
_GRACE = 0.6  # seconds of the processor for each
_PART, _LONGEST = 0.3, 10.0  # of the time that is left, for the grid, and seconds at most


def never(_: Enclosure) -> bool:
    """Nothing is narrow enough."""
    return False


def measured(
    uses: Scenario,
    figure: Figure,
    width: Fraction,
    cap: int,
    work: float,
    enough: Enough = never,
) -> Enclosure:
    """Of these uses together: discrete or continuous noise or both, allocations, or batches.

    cap: of the precision, in bits. work: about how many seconds. enough: what of a first enclosure
    makes a narrower one needless. The coarse grid is asked where what is narrow takes long or is
    wide, and that too if need be. Raises ContradictionError where two ways do not agree.
    """

    def is_enough(found: Enclosure) -> bool:
        return found.is_within(width) or enough(found)

    known: Enclosure | None = None
    try:
        if takes_long(uses, figure):
            known = _coarsely(uses, figure)
        if known is not None and is_enough(known):
            return known
        found = narrowly(uses, figure, width, cap, work)
    except ArithmeticError as error:  # nothing else knows of so many outcomes, or the time is over
        known = _coarsely(uses, figure) if known is None else known
        why = COARSE if isinstance(error, OutOfTimeError) else TOO_MANY
        return _with_bounds(known, uses, figure, why)
    if known is None and not found.is_within(max(width, _WIDE)) and not is_enough(found):
        known = _coarsely(uses, figure)
    try:
        return _met(found if known is None else meeting(figure, found, known), uses, figure)
    except ContradictionError as error:
        listed = " + ".join(f"{times} * {written(one)}" for one, times in uses)
        raise ContradictionError(f"{error}: {listed}") from error


def in_little_time(uses: Scenario, figure: Figure) -> Enclosure:
    """By what takes some tenths of a second of the processor, whatever time is left.

    Raises OutOfTimeError where that tells nothing.
    """
    return _with_bounds(_coarsely(uses, figure), uses, figure, COARSE)


def _with_bounds(known: Enclosure | None, uses: Scenario, figure: Figure, why: str) -> Enclosure:
    """What is known by the grid, where that is an end only with what bounds it from above."""
    if known is None:
        return _at_least(uses, figure, _from_above(uses, figure))
    return _met(known, uses, figure).because(why)


def _met(known: Enclosure, uses: Scenario, figure: Figure) -> Enclosure:
    """What is known, and if that is next to nothing, what bounds it from above."""
    if known.is_within(_VAGUE):
        return known
    with suppress(OutOfTimeError):
        above = _from_above(uses, figure)
        return meeting(figure, known, Enclosure(above.lower, above.upper, by=above.by))
    return known


def _coarsely(uses: Scenario, figure: Figure) -> Enclosure | None:
    """By the coarse grid; None where it does not apply."""
    try:
        with grace(max(_GRACE, min(_PART * time_left(), _LONGEST))):
            return coarse(uses, figure)
    except ArithmeticError:  # out of time, not covered, or no lattice that fits is known
        return None


def _from_above(uses: Scenario, figure: Figure) -> Enclosure:
    """By a Gaussian or by Rényi divergences. Raises OutOfTimeError where they tell nothing."""
    found = nothing = anything(figure)
    if figure.at or figure.quantity == "delta":
        for bound in (by_envelope, by_orders):
            with suppress(ArithmeticError), grace(_GRACE):  # out of time, or not known
                found = meeting(figure, found, bound(uses, figure))
    if found == nothing:
        raise OutOfTimeError("the time allowed is over")
    return found.because(FROM_ABOVE)


def _at_least(uses: Scenario, figure: Figure, known: Enclosure) -> Enclosure:
    """With what some uses of a long list cost: the others tell nothing that makes it less."""
    few = dearest_few(uses)
    if len(few) == len(uses) or (found := _coarsely(few, figure)) is None:
        return known
    below = Enclosure(found.lower, anything(figure).upper, by=found.by)
    return meeting(figure, Enclosure(known.lower, known.upper, by=known.by), below).because(
        FROM_SOME
    )


def _bounded(uses: Scenario, figure: Figure, width: Fraction, work: float) -> Enclosure:
    """By the grid, and what else is known of allocations or batches: one use exactly."""
    assert figure.at is not None
    known, is_delta = anything(figure), figure.quantity == "delta"
    if figure == Figure("epsilon", Fraction(1)):
        return Enclosure.exactly(0)
    if (parts := allocated.allocations_of(uses)) is not None:
        known = (
            allocated.allocated_delta(parts, figure.at, width)
            if is_delta
            else allocated.allocated_epsilon(parts, figure.at)
        )
    elif (drawn := batches.batches_of(uses)) is not None:
        measure, at = mixed.delta if is_delta else mixed.epsilon, figure.at
        known = batches.without_grid(drawn, lambda laws: measure(laws, at, width, work / 2))
    if known.is_within(width):
        return known
    try:
        found = narrowed(uses, figure, width, work / 2)
    except OutOfTimeError:
        found = in_little_time(uses, figure)
    except ArithmeticError:
        return known
    bare = Enclosure(known.lower, known.upper)
    return meeting(figure, bare, found).because(BETWEEN)


def narrowly(uses: Scenario, figure: Figure, width: Fraction, cap: int, work: float) -> Enclosure:
    """What is exact, or as narrow as asked."""
    assert figure.at is not None
    if is_own(uses):
        return _bounded(uses, figure, width, work)
    (parts, others), is_delta = parts_of(uses), figure.quantity == "delta"
    if not parts:
        composed = composed_delta if is_delta else composed_epsilon
        return composed(uses, figure.at, width, cap, work)
    measure = mixed.delta if is_delta else mixed.epsilon
    return measure(parts, figure.at, width, work, others)
