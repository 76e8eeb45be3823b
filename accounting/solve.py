"""What uses of mechanisms cost together: the one place that knows of brackets and of methods.

*Brackets.* A use that is known by others (`mechanisms.bracket`) is put between lists of these: the
largest of what neighbours attain is a lower bound, the least of what dominates them an upper one,
and a list on both sides is the answer. Of several such uses the first lists are taken together, the
second ones, and so on; each choice is sound, none need be the best. Lists are asked in their order
until what they leave is narrow enough. What else is known of such uses, of what their coordinates
add up to, by their Rényi curves or by mixtures, is intersected.

*Methods.* A list in which all uses have pairs of laws is measured: a figure that adds up use by
use; the others by what measures all of them together (`composition.together`); where the work or
the time ends first, by what is quick, and by what other figures imply (`composition.known`).

Two enclosures that do not meet are a ContradictionError.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from typing import NamedTuple, TypeAlias

from attrs import frozen

from ..common.rows import written
from ..exact.budget import OutOfTimeError, in_any_case, in_time, is_over, spend, unhurried
from ..exact.enclosure import Enclosure
from ..exact.errors import DoesNotApplyError
from ..exact.number import ParameterError
from ..exact.precision import CAP, WIDTH
from ..mechanisms.bracket import Bracket, Parts, bracket, is_bracketed
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.sampling.allocation import allocation
from .composition import divergence
from .composition.divergence import added_up
from .composition.guarantees import as_two_outcomes
from .composition.known import ORDERS, first_bounds, quick_figures
from .composition.rounding import coordinates, in_one_curve, is_reduced, mixed
from .composition.single import by_itself, by_profile
from .composition.together import (
    FROM_ABOVE,
    composed_gdp,
    composed_zcdp,
    measured,
    measured_roughly,
)
from .divergences.conversion import renyi_to_delta, renyi_to_epsilon
from .figure import MU, PURE, RHO, Figure, meeting
from .losses.sums import WORK, Enough, never
from .scenario import Scenario, Use, dearest, neighbours, scenarios, worst

MOST_USES = 10**9
_LOG = logging.getLogger(__name__)
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")
_ANYTHING = Enclosure.unknown()
_COARSE = Fraction(1, 10**6)
_CURVE = Fraction(1, 10**9)  # of divergences that are converted
_ATTAINED = Fraction(1, 10**5)  # width of what is attained: less than the gap above it, mostly
_GUARANTEED = Fraction(1, 10**5)  # of what bounds all that have a guarantee: the same
_ROUGH, _QUICK = Fraction(1, 100), 0.2  # width, and seconds of work
_FEW = 6  # orders that are asked where nothing else is known
_PURE, _BY = (
    "largest losses, added up",
    {  # how a figure is found where nothing else is named
        "epsilon": "one event",
        "delta": "one event",
        "renyi": "divergences, added up",
        "zcdp": "supremum over the orders",
        "gdp": "tests of one against the other",
    },
)

Uses: TypeAlias = tuple[Use, ...]


class Query(NamedTuple):
    """A figure, and how it is wanted; the last two are of delta and epsilon."""

    figure: Figure
    width: Fraction = WIDTH
    cap: int = CAP
    work: float = WORK
    enough: Enough = never


def counted(uses: Sequence[Use]) -> Uses:
    """Equal mechanisms counted together. Raises ParameterError if their neighbours differ."""
    if not uses:
        raise ParameterError("a composition must have at least one use of a mechanism")
    neighbours(uses)
    counts: dict[Mechanism, int] = {}
    for mechanism, times in uses:
        counts[mechanism] = counts.get(mechanism, 0) + times
    if sum(counts.values()) > MOST_USES:
        raise ParameterError(f"times must add up to at most {MOST_USES}")
    return tuple(Use(*count) for count in counts.items())


def solve(uses: Sequence[Use], query: Query) -> Enclosure:
    """The figure of these uses together. In any case: out of time with what holds anyway."""
    figure, uses = query.figure, counted(uses)
    if figure.quantity == "renyi":
        return renyi_curve(uses, [query])[0]
    by = _PURE if figure == PURE else _BY[figure.quantity]
    found = in_any_case(lambda: _solved(uses, query).found_by(by), figure.trivial)
    if _LOG.isEnabledFor(logging.DEBUG):
        listed = " + ".join(f"{count} * {written(one)}" for one, count in uses)
        _LOG.debug("%s of %s: %s, by %s", figure, listed, found, "; ".join(found.by))
    return found


def renyi_curve(uses: Uses, queries: Sequence[Query]) -> list[Enclosure]:
    """Rényi divergences at several orders, in any case.

    They add up at every order. Source: Mironov, "Rényi differential privacy", CSF 2017, Proposition
    1; an adversary who picks the worst pair each time attains the sum.
    """
    found = [_ANYTHING] * len(queries)

    def ask_each() -> None:
        for index, query in enumerate(queries):
            if _is_open(found[index]):
                spend()
                with suppress(ArithmeticError):
                    found[index] = _solved(uses, query).found_by(_BY["renyi"])

    in_any_case(ask_each, None)
    missed = [index for index, one in enumerate(found) if _is_open(one)]
    if missed and not any(is_bracketed(use.mechanism) for use in uses):
        orders = [order for index in missed if (order := queries[index].figure.at)]
        tells = first_bounds(uses, cost, orders)
        for index in missed:
            found[index] = found[index].intersection(tells.of(queries[index].figure))
    for index in missed:
        if not found[index].is_finite():
            found[index] = measured_or_implied(
                uses, queries[index], partial(found.__getitem__, index)
            )
    return found


def cost(uses: Sequence[Use], figure: Figure) -> Enclosure:
    """The figure of these uses together, to about six digits."""
    return solve(uses, Query(figure, _COARSE))


def from_above(uses: Sequence[Use], query: Query) -> Enclosure:
    """What dominates all that neighbours can do, the least of it: its lower end bounds nothing."""
    figure, lists = query.figure, lists_of(uses)
    if lists is None:
        return solve(uses, query)
    least = min((solve(one, query) for one in lists.dominating), key=lambda one: one.upper)
    if figure == PURE or figure.at is None or figure.at == 1:
        return least
    mixture = mixed(lists.uses, figure)
    if least.upper <= mixture.upper:
        return least
    return Enclosure(mixture.upper, mixture.upper, why=mixture.why)


def _solved(uses: Uses, query: Query) -> Enclosure:
    """Between other lists, where a use is known by these; else by its losses."""
    if (lists := lists_of(uses)) is not None:
        return _between(lists, query).intersection(query.figure.trivial)
    if (figure := query.figure).adds_up and figure != RHO:
        return worst(dearest(uses), lambda some: added_up(some, *query[:3]))
    found = measured_or_implied(uses, query, lambda: _measured(uses, query))
    if figure == RHO and _is_open(found):
        found = found.intersection(first_bounds(uses, cost).of(figure))
    return found.intersection(figure.trivial)


def _is_open(found: Enclosure) -> bool:
    """Is nothing known of one of its ends?"""
    return found.lower == 0 < found.upper or found.lower < found.upper == _INFINITY


# -- uses that lie between others -----------------------------------------------------------------


@frozen
class Lists:
    """Lists of uses that cost at most as much as these, and lists that cost at least as much.

    brackets: of each use; None where it has pairs of laws. attained, dominating: as in `Bracket`.
    """

    uses: Uses
    brackets: tuple[Bracket | None, ...]
    attained: tuple[Uses, ...]
    dominating: tuple[Uses, ...]

    @property
    def exact(self) -> Uses | None:
        """A list that costs the same, where one is known."""
        return next((one for one in self.attained if one in self.dominating), None)

    @property
    def alone(self) -> Bracket | None:
        """Of a single use."""
        return self.brackets[0] if len(self.uses) == self.uses[0].times == 1 else None

    @property
    def reasons(self) -> tuple[str, ...]:
        """What is open in between."""
        return tuple(dict.fromkeys(one.reason for one in self.brackets if one is not None))

    @property
    def has_curves(self) -> bool:
        """Is a bound of its Rényi divergences known of some use?"""
        return any(one is not None and one.curve for one in self.brackets)

    @property
    def pure(self) -> Uses | None:
        """A list of the same pure epsilon, where that is told by itself."""
        if not any(one is not None and one.pure for one in self.brackets):
            return None
        same = _picked(self.brackets, lambda one: [one.pure] if one.pure else one.exact)
        return None if [] in same else next(_together(self.uses, same))


def lists_of(uses: Sequence[Use]) -> Lists | None:
    """The lists on both sides of these uses; None where all have pairs of laws of their own.

    Nothing is known without them: they are found whatever time is left.
    """
    with unhurried():
        brackets = tuple(bracket(use.mechanism) for use in uses)
        if not any(brackets):
            return None
        attained = tuple(_together(uses, _picked(brackets, lambda one: one.attained)))
        dominating = tuple(_together(uses, _picked(brackets, lambda one: one.dominating)))
    few = [one for one in attained if one and sum(use.times for use in one) <= MOST_USES]
    return Lists(tuple(uses), brackets, tuple(dict.fromkeys(few)), tuple(dict.fromkeys(dominating)))


def _picked(
    brackets: Sequence[Bracket | None], pick: Callable[[Bracket], Sequence[Parts]]
) -> list[Sequence[Parts] | None]:
    return [None if one is None else pick(one) for one in brackets]


def _together(uses: Sequence[Use], lists: Sequence[Sequence[Parts] | None]) -> Iterator[Uses]:
    """The first, second, ... list of each use together: the last of each where it has no more.

    None: the use itself. Of what is attained there may be none, and then the use is left out.
    """
    for turn in range(max((len(some) for some in lists if some is not None), default=0)):
        found: list[Use] = []
        for use, some in zip(uses, lists, strict=True):
            if some is None:
                found.append(use)
            elif some:
                parts = some[min(turn, len(some) - 1)]
                found += [Use(part, count * use.times) for part, count in parts]
        yield tuple(found)


def _between(lists: Lists, query: Query) -> Enclosure:
    """From the largest of what is attained to the least of what dominates, as far as is needed.

    A figure that adds up over uses is asked to the full width. Others: of what is attained, to
    _ATTAINED at the narrowest.
    """
    figure, width = query.figure, query.width
    if figure == PURE and (same := lists.pure) is not None:
        return solve(same, query)
    if lists.alone is not None and figure.at is not None and figure != PURE:
        pure = partial(solve, lists.uses, Query(PURE, _COARSE))
        alone = by_itself(lists.uses[0].mechanism, figure, width, query.cap, pure)
        if alone is not None:
            return alone
    narrow = roughly = width
    if not figure.adds_up:
        narrow = max(width, _GUARANTEED) if lists.has_curves else width
        roughly = max(width, _ATTAINED)

    def ask(listed: Uses, width: Fraction) -> Callable[[], Enclosure]:
        return partial(solve, listed, query._replace(width=width))

    alike = [] if lists.exact is None else [(lists.exact,)]
    is_largest = lists.alone is not None and lists.alone.is_largest(figure.quantity)
    for some in (*alike, *([lists.attained] if is_largest else [])):
        found = reduce(Enclosure.maximum, (in_time(ask(one, width), _ANYTHING) for one in some))
        if found.is_finite() or found.lower == _INFINITY:
            return found
    upper: dict[Uses, Enclosure] = {}
    lower: list[Enclosure] = []

    def asked(listed: Uses, width: Fraction, needed: bool) -> Enclosure:
        """Of this list; where no work is left, only if nothing is known without it."""
        if needed:
            return in_any_case(ask(listed, width), _ANYTHING)
        return _ANYTHING if is_over() else in_time(ask(listed, width), _ANYTHING)

    def dominated(listed: Uses) -> None:
        bounded = any(one.is_finite() for one in upper.values())
        upper[listed] = asked(listed, narrow, not bounded)

    dominated(lists.dominating[0])
    other = in_any_case(lambda: besides(lists, query), _ANYTHING)
    for listed in attained_at(lists, figure):
        if listed in lists.dominating and listed not in upper:
            dominated(listed)
        if listed in upper:
            lower.append(upper[listed])
        else:
            lower.append(asked(listed, roughly, not lower))
    found = _met(lower, upper, other, lists)
    for listed in lists.dominating:
        if listed not in upper and not found.is_within(roughly):
            dominated(listed)
            found = _met(lower, upper, other, lists)
    return found


def attained_at(lists: Lists, figure: Figure) -> tuple[Uses, ...]:
    """With what is attained at this figure besides, by what is known by a guarantee only."""
    if not lists.has_curves or figure.adds_up:
        return lists.attained
    more: list[Uses] = []
    nothing: list[Uses] = []
    for listed in in_time(partial(as_two_outcomes, lists.uses, figure), nothing):
        inner = lists_of(listed)
        more += [listed] if inner is None else inner.attained[:1]
    return (*lists.attained, *more)


def _met(
    lower: Sequence[Enclosure], upper: dict[Uses, Enclosure], other: Enclosure, lists: Lists
) -> Enclosure:
    least = max((one.lower for one in lower), default=_ZERO)
    best = min(upper.values(), key=lambda one: one.upper)
    said = tuple(dict.fromkeys(reason for one in (*lower, best) for reason in one.why))
    ends = [one for one in lower if one.lower is least] + [best]
    by = tuple(dict.fromkeys(method for one in ends for method in one.by))
    found = Enclosure(least, best.upper, why=said, by=by).because(*lists.reasons)
    return found.intersection(other)


def besides(lists: Lists, query: Query) -> Enclosure:
    """What else bounds such uses from above.

    That is what adds up over uses and coordinates; of delta and epsilon what mixtures tell, what
    the Rényi curve of all uses does, where one is known of some use by itself; and the pure
    epsilon, where few residues are left.
    """
    figure, at = query.figure, query.figure.at
    if figure.adds_up:
        found = _added_up(lists, query)
        return found.intersection(mixed(lists.uses, figure)) if at else found
    if at is None:
        return figure.trivial
    if figure == Figure("epsilon", Fraction(1)):
        return Enclosure.exactly(0)
    found = mixed(lists.uses, figure)
    if lists.alone is not None and lists.alone.profile is not None:
        found = found.intersection(by_profile(lists.alone.profile, figure))

    def added(orders: Sequence[Fraction]) -> list[Enclosure]:
        asks = (query._replace(figure=Figure("renyi", a), width=_CURVE) for a in orders)
        return [_added_up(lists, ask) for ask in asks]

    if lists.has_curves:
        convert = renyi_to_delta if figure.quantity == "delta" else renyi_to_epsilon
        with suppress(OutOfTimeError):
            most = convert(added, at, None, _COARSE).value.upper
            found = found.intersection(Enclosure(_ZERO, most, by=("Rényi divergences",)))
    if figure.quantity == "epsilon" and is_reduced(lists.uses):
        most = solve(lists.uses, Query(PURE, _COARSE, query.cap)).upper
        found = found.intersection(Enclosure(_ZERO, most))
    return found


def _added_up(lists: Lists, query: Query) -> Enclosure:
    """What adds up over uses and coordinates, at most; anything where that is not known."""
    parts, others = list[Enclosure](), list[Use]()
    for use, one in zip(lists.uses, lists.brackets, strict=True):
        ways = [] if one is None or one.curve is None else [in_one_curve(one.curve, query.figure)]
        if one is not None:
            found = coordinates(use.mechanism, query.figure, lambda some: solve(some, query))
            ways += [] if found is None else [found]
        if ways:
            parts.append(min(ways, key=lambda way: way.upper).times(use.times))
        else:
            others.append(use)
    if not parts:
        return _ANYTHING
    parts += [solve(others, query)] if others else []
    found = Enclosure.total(parts)
    return found if found.lower == _INFINITY else Enclosure(_ZERO, found.upper)


# -- uses that have pairs of laws -----------------------------------------------------------------


def _measured(uses: Uses, query: Query) -> Enclosure:
    """By what measures a single use, and several in one scenario."""
    figure, width, cap, work, enough = query
    if figure == RHO:
        found = worst(dearest(uses), lambda some: composed_zcdp(some, width, cap))
    elif figure == MU:
        asked = Query(MU, _COARSE, cap, _QUICK)
        found = composed_gdp(
            uses, lambda other: solve(uses, asked._replace(figure=other)), width, cap
        )
    else:
        assert figure.at is not None
        if len(uses) == uses[0].times == 1 and allocation(uses[0].mechanism) is None:
            with suppress(ArithmeticError):  # where the loss is so large may be too far out
                return divergence.figure_of(uses[0].mechanism, figure, width, cap)
        found = worst(
            scenarios(uses),
            lambda some: measured(some, figure, width, cap, work, enough),
            lambda some: measured(some, figure, _ROUGH, cap, _QUICK, enough),
        )
    return found


def _quick(uses: Scenario, figure: Figure) -> Enclosure:
    """What is known in any case, where the time ends."""
    found = figure.trivial
    if figure == MU:
        found = first_bounds(uses, cost).of(figure)
    elif figure.quantity in ("delta", "epsilon"):
        found = worst(scenarios(uses), lambda some: measured_roughly(some, figure))
    return found


def measured_or_implied(uses: Uses, query: Query, measure: Callable[[], Enclosure]) -> Enclosure:
    """What is measured, or quick; where that says nothing, what other figures imply."""
    figure = query.figure
    found = figure.trivial
    try:
        with suppress(DoesNotApplyError):
            found = measure()
    except OutOfTimeError:
        try:
            found = _quick(uses, figure)
        except OutOfTimeError:
            found = found.because(FROM_ABOVE)
    if (found.is_finite() and found.upper != 1) or found.lower == found.upper:
        return found
    # divergences are asked from here themselves: of these, pure epsilon alone tells more
    orders = ORDERS[:_FEW] if figure.quantity != "renyi" else ()
    others = quick_figures(uses, cost, orders)
    return meeting(figure, found, others.of(figure))
