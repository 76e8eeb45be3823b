"""delta(epsilon) and epsilon(delta) of the uses of one scenario: what measures which uses.

One use and Gaussian noise narrowly (`losses.continuous.profile`, `allocated`), all else by its
losses together (`losses.sums`): exactly on a lattice, else moved to one. Where neither applies, a
Gaussian or Rényi divergences bound the figure (`known`).
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from functools import partial

from ...exact.budget import QUICK, OutOfTimeError, quickly
from ...exact.enclosure import ContradictionError, Enclosure
from ...exact.rows import written
from ..figure import Figure, meeting
from ..losses.continuous import allocated, profile
from ..losses.continuous.uses import parts_of
from ..losses.sums import (
    Enough,
    coarse,
    composed_delta,
    composed_epsilon,
    most_costly,
    never,
)
from ..scenario import Scenario
from .divergence import pure_epsilon
from .known import by_envelope, by_orders

COARSE = "with the work or the time allowed it was measured on a coarse lattice only"
FROM_ABOVE = "with the work or the time allowed only a bound from above was found"
FROM_SOME = "with the work or the time allowed the uses of most noise count from above only"
_VAGUE, _ROUGHLY = Fraction(1, 2), Fraction(1, 10**6)
_EACH = 2 * QUICK  # units of work for each


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
    makes a narrower one needless. Raises ContradictionError where two ways do not agree.
    """
    try:
        try:
            found = narrowly(uses, figure, width, cap, work, enough)
        except OutOfTimeError:
            return _roughly(uses, figure, COARSE)
        except ArithmeticError:  # not known of so many outcomes
            return _roughly(uses, figure)
        return _met(found, uses, figure)
    except ContradictionError as error:
        listed = " + ".join(f"{times} * {written(one)}" for one, times in uses)
        raise ContradictionError(f"{error}: {listed}") from error


def in_little_time(uses: Scenario, figure: Figure) -> Enclosure:
    """By what is quick, whatever time is left.

    Raises OutOfTimeError where that tells nothing.
    """
    return _roughly(uses, figure, COARSE)


def _roughly(uses: Scenario, figure: Figure, *why: str) -> Enclosure:
    """On a coarse lattice, for these reasons; where there is none, by what bounds it from above."""
    known = _coarsely(uses, figure)
    if known is None:
        return _at_least(uses, figure, _from_above(uses, figure))
    return _met(known, uses, figure).because(*why)


def _met(known: Enclosure, uses: Scenario, figure: Figure) -> Enclosure:
    """What is known, and if that is next to nothing, what bounds it from above."""
    if known.is_within(_VAGUE):
        return known
    with suppress(OutOfTimeError):
        above = _from_above(uses, figure)
        return meeting(figure, known, Enclosure(above.lower, above.upper, by=above.by))
    return known


def _coarsely(uses: Scenario, figure: Figure) -> Enclosure | None:
    """On a coarse lattice; None where that does not apply."""
    try:
        return quickly(partial(coarse, uses, figure), None, _EACH)
    except ArithmeticError:  # not covered, or no lattice that fits is known
        return None


def _from_above(uses: Scenario, figure: Figure) -> Enclosure:
    """By a Gaussian or by Rényi divergences. Raises OutOfTimeError where they tell nothing."""
    found = nothing = figure.trivial
    if figure.at or figure.quantity == "delta":
        for bound in (by_envelope, by_orders):
            with suppress(ArithmeticError):  # not known
                one = quickly(partial(bound, uses, figure), nothing, _EACH)
                found = meeting(figure, found, one)
    if found == nothing:
        raise OutOfTimeError("the time allowed is over")
    return found.because(FROM_ABOVE)


def _at_least(uses: Scenario, figure: Figure, known: Enclosure) -> Enclosure:
    """With what some uses of a long list cost: the others tell nothing that makes it less."""
    few = most_costly(uses)
    if len(few) == len(uses) or (found := _coarsely(few, figure)) is None:
        return known
    below = Enclosure(found.lower, figure.trivial.upper, by=found.by)
    return meeting(figure, Enclosure(known.lower, known.upper, by=known.by), below).because(
        FROM_SOME
    )


def _never_exceeds(scenario: Scenario, epsilon: Fraction) -> bool:
    """Is no loss of all releases above epsilon, however seldom the outcome?"""
    with suppress(ArithmeticError):  # not known
        each = (pure_epsilon(mechanism, _ROUGHLY).times(times) for mechanism, times in scenario)
        return Enclosure.total(each).upper <= epsilon
    return False


def narrowly(
    uses: Scenario, figure: Figure, width: Fraction, cap: int, work: float, enough: Enough = never
) -> Enclosure:
    """What is exact, or as narrow as asked."""
    assert figure.at is not None
    is_delta, nothing = figure.quantity == "delta", figure.trivial
    known = nothing
    if figure == Figure("epsilon", Fraction(1)):
        return Enclosure.exactly(0)
    if is_delta and quickly(partial(_never_exceeds, uses, figure.at), False):
        return Enclosure.exactly(0)
    parts, others = parts_of(uses)
    if not others and profile.is_known(parts):
        measure = profile.delta if is_delta else profile.epsilon
        known = measure(parts, figure.at, width, work)
    elif (epochs := allocated.allocations_of(uses)) is not None:
        known = (
            allocated.allocated_delta(epochs, figure.at, width)
            if is_delta
            else allocated.allocated_epsilon(epochs, figure.at)
        )
    if known.is_within(width) or enough(known):
        return known
    composed = composed_delta if is_delta else composed_epsilon
    try:
        found = composed(uses, figure.at, width, cap, work, enough)
    except (ArithmeticError, OutOfTimeError):
        if known == nothing:
            raise
        return known
    return meeting(figure, Enclosure(known.lower, known.upper), found)
